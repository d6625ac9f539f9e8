#include "view/http_guard.h"

#include <gtest/gtest.h>

namespace slipstick {
namespace {

constexpr char kToken[] = "0123456789abcdef0123456789abcdef";

HttpRequest good() {
  HttpRequest request;
  request.method = "GET";
  request.path = "/0123456789abcdef0123456789abcdef/clip/0";
  request.host = "127.0.0.1:8123";
  return request;
}

TEST(HttpGuard, TheAddressThatWasPrinted) {
  const HttpVerdict verdict = judge(good(), kToken, 8123);
  EXPECT_EQ(verdict.status, 200);
  EXPECT_EQ(verdict.resource, "clip/0");
  HttpRequest local = good();
  local.host = "localhost:8123";
  local.origin = "http://localhost:8123";
  EXPECT_EQ(judge(local, kToken, 8123).status, 200);
}

TEST(HttpGuard, WrongToken) {
  for (const char* path : {"/", "", "/x/", "/0123456789abcdef0123456789abcdee/", "/0123456789abcdef/",
                           "/0123456789abcdef0123456789abcdef0/", "//0123456789abcdef0123456789abcdef/", "/../", "x"}) {
    HttpRequest request = good();
    request.path = path;
    EXPECT_NE(judge(request, kToken, 8123).status, 200) << path;
  }
  EXPECT_NE(judge(good(), "", 8123).status, 200) << "a server without a token serves nobody";
}

TEST(HttpGuard, WrongHostIsANameThatWasPointedHere) {
  for (const char* host :
       {"evil.example", "evil.example:8123", "127.0.0.1", "127.0.0.1:8124", "127.0.0.1:8123.evil.example", ""}) {
    HttpRequest request = good();
    request.host = host;
    EXPECT_EQ(judge(request, kToken, 8123).status, 403) << host;
  }
  HttpRequest request = good();
  request.host.reset();
  EXPECT_EQ(judge(request, kToken, 8123).status, 403);
}

TEST(HttpGuard, WrongOriginIsAPageFromElsewhere) {
  for (const char* origin : {"http://evil.example", "null", "https://127.0.0.1:8123", "http://127.0.0.1:8124",
                             "http://127.0.0.1:8123.evil.example", "file://", ""}) {
    HttpRequest request = good();
    request.origin = origin;
    EXPECT_EQ(judge(request, kToken, 8123).status, 403) << origin;
  }
  HttpRequest socket = good();
  socket.upgrade = true;
  EXPECT_EQ(judge(socket, kToken, 8123).status, 403) << "a WebSocket must say where it comes from";
  socket.origin = "http://127.0.0.1:8123";
  EXPECT_EQ(judge(socket, kToken, 8123).status, 200);
}

TEST(HttpGuard, OnlyReading) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", ""}) {
    HttpRequest request = good();
    request.method = method;
    EXPECT_EQ(judge(request, kToken, 8123).status, 405) << method;
  }
}

TEST(HttpGuard, TokensAreLongAndDiffer) {
  const std::string token = make_token();
  EXPECT_EQ(token.size(), 32u);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(token, make_token());
}

TEST(HttpGuard, NumbersOfAQuery) {
  EXPECT_EQ(find_number("first=12&count=3", "first"), 12u);
  EXPECT_EQ(find_number("first=12&count=3", "count"), 3u);
  for (const char* query :
       {"", "first", "first=", "first=-1", "first=1e3", "first=0x2", "first=9999999999", "xfirst=1", "first=1 "})
    EXPECT_FALSE(find_number(query, "first")) << query;
}

}  // namespace
}  // namespace slipstick
