#include "view/browser.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace slipstick {

namespace {

constexpr int kPatienceMs = 120'000;  ///< for one answer: software rendering on a loaded machine is slow
constexpr std::size_t kMaxBrowserMessage = 256u << 20;

/// Chromium reads its orders from descriptor 3 and answers on 4.
[[noreturn]] void become_browser(const std::string& program, const std::string& profile, int orders, int answers) {
  setpgid(0, 0);
  const int from = fcntl(orders, F_DUPFD, 10), to = fcntl(answers, F_DUPFD, 10), nowhere = open("/dev/null", O_RDWR);
  for (int descriptor = 0; descriptor < 3; ++descriptor) dup2(nowhere, descriptor);
  dup2(from, 3);
  dup2(to, 4);
  // A browser for root, without a sandbox, would be a danger on the web; this one sees only our own file.
  const std::string data = "--user-data-dir=" + profile;
  const char* const words[] = {program.c_str(),
                               "--headless",
                               "--no-sandbox",
                               "--remote-debugging-pipe",
                               "--use-angle=swiftshader",
                               "--enable-unsafe-swiftshader",
                               "--disable-background-networking",
                               "--disable-component-update",
                               "--disable-sync",
                               "--no-first-run",
                               "--hide-scrollbars",
                               data.c_str(),
                               "about:blank",
                               nullptr};
  execv(words[0], const_cast<char* const*>(words));
  _exit(1);
}

}  // namespace

Result<Browser> Browser::start(const std::string& program) {
  Browser browser;
  std::string folder = (std::filesystem::temp_directory_path() / "slipstick-browser-XXXXXX").string();
  if (!mkdtemp(folder.data())) return Fault{{}, "no folder can be made for Chromium in " + folder};
  browser.profile_ = folder;
  int orders[2], answers[2];
  if (pipe2(orders, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) return Fault{{}, "no pipe can be had"};
  browser.process_ = fork();
  if (browser.process_ == 0) become_browser(program, folder, orders[0], answers[1]);
  close(orders[0]);
  close(answers[1]);
  browser.out_ = orders[1];
  browser.in_ = answers[0];
  if (browser.process_ < 0) return Fault{{}, "Chromium cannot be started"};
  setpgid(browser.process_, browser.process_);
  return browser;
}

Browser::Browser(Browser&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      profile_(std::exchange(other.profile_, {})),
      session_(std::move(other.session_)),
      unread_(std::move(other.unread_)),
      calls_(other.calls_) {}

Browser::~Browser() {
  for (const int end : {in_, out_})
    if (end >= 0) close(end);
  if (process_ > 0) {
    kill(-process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  std::error_code code;
  if (!profile_.empty()) std::filesystem::remove_all(profile_, code);
}

bool Browser::write(const std::string& message) const {
  // Messages end with a zero byte. A browser that is gone is an error of the write, not a signal.
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  std::size_t sent = 0;
  while (sent <= message.size()) {
    const ssize_t count = ::write(out_, message.c_str() + sent, message.size() + 1 - sent);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    sent += static_cast<std::size_t>(count);
  }
  sigaction(SIGPIPE, &before, nullptr);
  return sent > message.size();
}

bool Browser::read(std::string* message) {
  for (std::size_t searched = 0;;) {
    const std::size_t end = unread_.find('\0', searched);
    if (end != std::string::npos) {
      *message = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return true;
    }
    searched = unread_.size();
    pollfd wanted{in_, POLLIN, 0};
    const int ready = poll(&wanted, 1, kPatienceMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || unread_.size() > kMaxBrowserMessage) return false;
    char bytes[65536];
    const ssize_t count = ::read(in_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    unread_.append(bytes, static_cast<std::size_t>(count));
  }
}

Result<Json> Browser::call(const std::string& method, Json parameters) {
  const int id = ++calls_;
  Json order{{"id", id}, {"method", method}, {"params", std::move(parameters)}};
  if (!session_.empty()) order["sessionId"] = session_;
  std::string text;
  if (!write(make_text(order))) return Fault{{}, "Chromium has gone"};
  while (read(&text)) {
    const Json answer = Json::parse(text, nullptr, false);
    if (!answer.is_object() || answer.value("id", 0) != id) continue;  // something that happened meanwhile
    if (answer.contains("error")) return Fault{{}, "Chromium: " + answer["error"].value("message", "an error")};
    return answer.value("result", Json::object());
  }
  return Fault{{}, "Chromium does not answer"};
}

Result<bool> Browser::open(const std::string& address, int width, int height) {
  session_.clear();
  const auto target = call("Target.createTarget", {{"url", "about:blank"}});
  if (!target) return target.faults();
  const auto attached = call("Target.attachToTarget", {{"targetId", target->value("targetId", "")}, {"flatten", true}});
  if (!attached) return attached.faults();
  session_ = attached->value("sessionId", "");
  const auto sized = call("Emulation.setDeviceMetricsOverride",
                          {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
  if (!sized) return sized.faults();
  const auto opened = call("Page.navigate", {{"url", address}});
  if (!opened) return opened.faults();
  return true;
}

Result<Json> Browser::evaluate(const std::string& expression) {
  const auto answer =
      call("Runtime.evaluate", {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}});
  if (!answer) return answer.faults();
  if (answer->contains("exceptionDetails")) return Fault{{}, "the page: " + (*answer)["exceptionDetails"].dump()};
  return answer->value("result", Json::object()).value("value", Json());
}

}  // namespace slipstick
