// The server: civetweb behind a guard (http_guard.h). One address is known, everything else is refused.
#include <slipstick/app/view.h>

#include "view/client_frames.h"
#include "view/clip.h"
#include "view/http_guard.h"
#include "view/live.h"
#include "view/page.h"

#include <civetweb.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace slipstick {

namespace {

constexpr std::size_t kMaxFrames = 50'000, kMaxPoses = 12'000'000;  ///< of a clip in the browser's memory
constexpr std::size_t kMaxFramesAtOnce = 4096;
constexpr char kThreads[] = "320";  ///< a connection that says nothing holds one until its time is over: docs/viewer.md
constexpr std::size_t kMaxMessage = 4096;  ///< bytes of one WebSocket message from a client
constexpr int kLookMs = 250;               ///< how soon a connection sees that the server ends
constexpr std::chrono::seconds kSilence(
    30);  ///< after which a client is asked for a sign of life; after as much again it is given up

}  // namespace

struct ViewServer::Impl {
  ~Impl();
  Result<bool> start(const ViewOptions& options);
  int answer(mg_connection* connection) const;
  std::string make_resource(std::string_view resource, std::string_view query) const;
  void send_loop(mg_connection* connection, const std::shared_ptr<LiveInbox>& inbox) const;
  void read_loop(mg_connection* connection, int socket, LiveInbox& inbox) const;
  bool take(mg_connection* connection, const ClientFrame& frame, LiveInbox& inbox) const;

  std::string token, url, policy;
  int port = 0;
  mg_context* context = nullptr;
  std::vector<Clip> clips;
  mutable std::mutex reading;  ///< HDF5 is read by one thread at a time
  std::unique_ptr<LiveSimulation> live;
};

namespace {

ViewServer::Impl* find_server(const mg_connection* connection);

HttpRequest make_request(const mg_connection* connection, const mg_request_info* info) {
  HttpRequest request;
  request.method = info->request_method ? info->request_method : "";
  request.path = info->local_uri_raw ? info->local_uri_raw : "";
  if (const char* host = mg_get_header(connection, "Host")) request.host = host;
  if (const char* origin = mg_get_header(connection, "Origin")) request.origin = origin;
  request.upgrade = mg_get_header(connection, "Upgrade") != nullptr;
  return request;
}

void send_response(mg_connection* connection, int status, const char* type, const std::string& policy,
                   std::string_view body, bool head) {
  const char* text = status == 200   ? "OK"
                     : status == 404 ? "Not Found"
                     : status == 405 ? "Method Not Allowed"
                     : status == 400 ? "Bad Request"
                                     : "Forbidden";
  mg_printf(connection,
            "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nContent-Security-Policy: %s; "
            "frame-ancestors 'none'\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
            "Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n"
            "Cache-Control: no-store\r\n\r\n",
            status, text, type, body.size(), policy.c_str());
  if (!head) mg_write(connection, body.data(), body.size());
}

int begin_request(mg_connection* connection) { return find_server(connection)->answer(connection); }

// The WebSocket handlers. begin_request has judged the request before it gets here.
int connect_socket(const mg_connection* connection, void*) { return find_server(connection)->live ? 0 : 1; }

/// Our end of a client's connection, by the client's address: civetweb does not tell it. -1 when the client is gone
/// already.
int find_socket(const mg_connection* connection) {
  const mg_request_info* client = mg_get_request_info(connection);
  int found = -1;
  DIR* folder = ::opendir("/proc/self/fd");
  if (!folder) return found;
  while (const dirent* entry = ::readdir(folder)) {
    const int descriptor = std::atoi(entry->d_name);  // 0 for . and .., which has no such peer
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    char address[INET_ADDRSTRLEN] = "";
    if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) == 0 && peer.sin_family == AF_INET &&
        ntohs(peer.sin_port) == client->remote_port && ::inet_ntop(AF_INET, &peer.sin_addr, address, sizeof address) &&
        std::strcmp(address, client->remote_addr) == 0)
      found = descriptor;
  }
  ::closedir(folder);
  return found;
}

/// Serves one WebSocket from its handshake to its end, in the thread that civetweb has for it. Its frames are read here
/// and not by civetweb, which takes the mask off and does not say whether there was one.
void open_socket(mg_connection* connection, void*) {
  const ViewServer::Impl* server = find_server(connection);
  const auto inbox = server->live->watch();
  const int socket = find_socket(connection);
  if (!inbox) {
    constexpr char kFull[] = "{\"note\": \"too many windows are open\"}";
    mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_TEXT, kFull, sizeof kFull - 1);
  } else {
    // Messages are written by a thread of their own, so that a slow reader holds up nobody.
    std::thread sender([=] { server->send_loop(connection, inbox); });
    if (socket >= 0) server->read_loop(connection, socket, *inbox);
    inbox->close();
    server->live->leave(inbox);
    sender.join();
  }
  mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE, nullptr, 0);
  if (socket >= 0) ::shutdown(socket, SHUT_RDWR);  // nothing is left for civetweb to read
}

/// Called only for what a client sent together with its handshake, before there was an answer: no browser does.
int refuse_early(mg_connection*, int, char*, std::size_t, void*) { return 0; }

ViewServer::Impl* find_server(const mg_connection* connection) {
  return static_cast<ViewServer::Impl*>(mg_get_user_data(mg_get_context(connection)));
}

Fault make_port_fault(int port) {
  if (port == 0) return Fault{{}, "no port of 127.0.0.1 can be had"};
  return Fault{
      {}, "port " + std::to_string(port) + " of 127.0.0.1 cannot be had; another program uses it: leave the port out"};
}

}  // namespace

void ViewServer::Impl::send_loop(mg_connection* connection, const std::shared_ptr<LiveInbox>& inbox) const {
  while (!inbox->closed()) {
    const LiveInbox::Message message = inbox->take(std::chrono::milliseconds(500));
    if (!message) continue;
    if (mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_BINARY, message->data(), message->size()) <= 0) {
      inbox->close();
      return;
    }
  }
}

/// Until the client leaves, is silent, or sends what our page never would.
void ViewServer::Impl::read_loop(mg_connection* connection, int socket, LiveInbox& inbox) const {
  FrameReader reader(kMaxMessage);
  auto heard = std::chrono::steady_clock::now();
  bool asked = false;
  while (!inbox.closed() && !reader.broken()) {
    pollfd wanted{socket, POLLIN, 0};
    if (::poll(&wanted, 1, kLookMs) < 0 && errno != EINTR) return;
    const auto now = std::chrono::steady_clock::now();
    if (wanted.revents == 0) {
      if (now - heard < kSilence) continue;
      if (asked || mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_PING, nullptr, 0) <= 0) return;
      asked = true;
      heard = now;
      continue;
    }
    char bytes[kMaxMessage];
    const ssize_t count = ::recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) return;
    heard = now;
    asked = false;
    reader.add({bytes, static_cast<std::size_t>(count)});
    while (const auto frame = reader.next())
      if (!take(connection, *frame, inbox)) return;
  }
}

/// False: the connection is to be closed.
bool ViewServer::Impl::take(mg_connection* connection, const ClientFrame& frame, LiveInbox& inbox) const {
  switch (frame.kind) {
    case ClientFrame::Kind::kClose:
      return false;
    case ClientFrame::Kind::kPong:
      return true;
    case ClientFrame::Kind::kPing:
      return mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_PONG, frame.data.data(), frame.data.size()) > 0;
    case ClientFrame::Kind::kText:
      break;
  }
  if (!Json::accept(frame.data)) return false;  // no page of ours
  const std::string fault = live->command(frame.data);
  if (!fault.empty()) {
    auto note = std::make_shared<const std::string>(Packet(0).bytes({{"part", "note"}, {"text", fault}}));
    inbox.put(std::move(note), false);  // an answer, not a frame: bounded all the same
  }
  return true;
}

ViewServer::Impl::~Impl() {
  if (live) live->end();          // so that no connection waits
  if (context) mg_stop(context);  // the connections' threads use `live` to their end
}

Result<bool> ViewServer::Impl::start(const ViewOptions& options) {
  if (!has_viewer_page()) return Fault{{}, make_no_page_fault()};
  token = make_token();
  if (token.empty()) return Fault{{}, "the system has no random numbers"};
  policy = find_policy(viewer_page());
  const std::string where = "127.0.0.1:" + std::to_string(options.port);
  const char* settings[] = {"listening_ports",
                            where.c_str(),
                            "num_threads",
                            kThreads,
                            "request_timeout_ms",
                            "5000",
                            "websocket_timeout_ms",
                            "30000",
                            "max_request_size",
                            "8192",
                            "enable_directory_listing",
                            "no",
                            "enable_keep_alive",
                            "yes",
                            "keep_alive_timeout_ms",
                            "2000",
                            "tcp_nodelay",
                            "1",
                            nullptr};
  mg_callbacks callbacks{};
  callbacks.begin_request = begin_request;
  callbacks.log_message = [](const mg_connection*, const char*) { return 1; };  // it does not print
  mg_init_library(0);
  context = mg_start(&callbacks, this, settings);
  mg_server_port ports[1] = {};
  if (!context || mg_get_server_ports(context, 1, ports) != 1) return make_port_fault(options.port);
  port = ports[0].port;
  mg_set_websocket_handler(context, ("/" + token + "/live").c_str(), connect_socket, open_socket, refuse_early, nullptr,
                           nullptr);
  url = "http://127.0.0.1:" + std::to_string(port) + "/" + token + "/";
  return true;
}

/// Returns 0 to let civetweb go on with a WebSocket, 1 when the request has been answered.
int ViewServer::Impl::answer(mg_connection* connection) const {
  const mg_request_info* info = mg_get_request_info(connection);
  const HttpRequest request = make_request(connection, info);
  const HttpVerdict verdict = judge(request, token, port);
  const bool head = request.method == "HEAD";
  constexpr const char* kText = "text/plain; charset=utf-8";
  if (verdict.status != 200) {
    send_response(connection, verdict.status, kText, "default-src 'none'", std::string(verdict.reason) + "\n", head);
    return 1;
  }
  if (verdict.resource == "live" && live && request.upgrade) return 0;
  if (verdict.resource.empty()) {
    send_response(connection, 200, "text/html; charset=utf-8", policy, viewer_page(), head);
    return 1;
  }
  const std::string bytes = make_resource(verdict.resource, info->query_string ? info->query_string : "");
  if (bytes.empty()) {
    send_response(connection, 404, kText, "default-src 'none'", "no such thing\n", head);
  } else {
    send_response(connection, 200, "application/octet-stream", "default-src 'none'", bytes, head);
  }
  return 1;
}

/// "info", or "KIND/CLIP" with a query; empty when there is no such thing.
std::string ViewServer::Impl::make_resource(std::string_view resource, std::string_view query) const {
  if (resource == "info") return Packet(0).bytes({{"clips", clips.size()}, {"live", live != nullptr}});
  const std::size_t slash = resource.find('/');
  if (slash == std::string_view::npos || resource.size() != slash + 2) return "";
  const std::size_t index = static_cast<std::size_t>(resource[slash + 1] - '0');
  if (index >= clips.size()) return "";
  const Clip& clip = clips[index];
  const std::string_view kind = resource.substr(0, slash);
  ClipPrecision precision;
  precision.position = clip.body_size() * 1e-6;
  precision.point = clip.body_size() * 1e-5;
  const std::lock_guard lock(reading);
  if (kind == "clip") return clip.make_clip_packet(1);
  if (kind == "body") {
    const auto body = find_number(query, "body");
    return body && *body < clip.bodies() ? clip.make_body_packet(*body) : "";
  }
  const auto first = find_number(query, "first"), count = find_number(query, "count");
  if (!first || !count || *count == 0 || *count > kMaxFramesAtOnce || *first >= clip.frames() ||
      *count > clip.frames() - *first)
    return "";
  if (kind == "frames") return clip.make_frames_packet(*first, *count, precision);
  if (kind == "joints")
    return clip.joints() + clip.sensors() > 0 ? clip.make_joints_packet(*first, *count, 1, 1, 0) : "";
  if (kind == "contacts") return clip.make_contacts_packet(*first, *count, 1, precision);
  return "";
}

ViewServer::ViewServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ViewServer::~ViewServer() = default;
ViewServer::ViewServer(ViewServer&&) noexcept = default;
ViewServer& ViewServer::operator=(ViewServer&&) noexcept = default;
const std::string& ViewServer::url() const { return impl_->url; }

Result<ViewServer> ViewServer::show(const std::vector<std::string>& recordings, const ViewOptions& options) {
  auto impl = std::make_unique<Impl>();
  for (const std::string& path : recordings) {
    auto reader = RecordReader::open(path);
    if (!reader) return reader.faults();
    impl->clips.emplace_back(std::move(reader).value(), kMaxFrames, kMaxPoses / recordings.size());
  }
  const auto started = impl->start(options);
  if (!started) return started.faults();
  return ViewServer(std::move(impl));
}

Result<ViewServer> ViewServer::simulate(Scene scene, const ViewOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->live = std::make_unique<LiveSimulation>(std::move(scene), options);
  if (!impl->live->record_fault().empty()) return Fault{{}, impl->live->record_fault()};
  const auto started = impl->start(options);
  if (!started) return started.faults();
  return ViewServer(std::move(impl));
}

}  // namespace slipstick
