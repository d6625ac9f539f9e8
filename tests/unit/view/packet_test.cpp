#include "view/packet.h"

#include "report/web_text.h"
#include "unit/view/read_packet.h"
#include "view/page.h"

#include <limits>
#include <random>

namespace slipstick {
namespace {

using test::read_packet;

TEST(Packet, NumbersComeBack) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> any(-50, 50);
  std::vector<double> values(6 * 37);
  for (double& v : values) v = any(random);
  const std::vector<float> floats(values.begin(), values.end());
  for (const int level : {0, 1, 9}) {
    Packet packet(level);
    packet.add("exact", values, 6);
    packet.add("single", floats, 3);
    packet.add_packed("rounded", values, 6, 1e-3);
    const auto read = read_packet(packet.bytes({{"name", "x"}}));
    EXPECT_EQ(read.json["name"], "x");
    EXPECT_EQ(read.columns.at("exact"), values);
    EXPECT_EQ(read.columns.at("single"), std::vector<double>(floats.begin(), floats.end()));
    ASSERT_EQ(read.columns.at("rounded").size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(read.columns.at("rounded")[i], values[i], 0.5001e-3);
  }
}

TEST(Packet, HugeAndMissingNumbersDoNotOverflow) {
  Packet packet(1);
  const std::vector<double> values{
      -3e15, 3e15, 1, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 0};
  packet.add_packed("x", values, 1, 1e-6);
  const auto x = read_packet(packet.bytes({})).columns.at("x");
  EXPECT_NEAR(x[0] / -3e15, 1, 1e-8);
  EXPECT_NEAR(x[1] / 3e15, 1, 1e-8);
  EXPECT_EQ(x[3], 0);
  EXPECT_EQ(x[5], 0);
}

TEST(Packet, EmptyColumns) {
  Packet packet(9);
  packet.add("none", std::span<const double>(), 3);
  packet.add_packed("no bodies", std::span<const double>(), 0, 1);
  EXPECT_TRUE(read_packet(packet.bytes({})).columns.at("none").empty());
}

TEST(Page, Base64) {
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(encode_base64("M"), "TQ==");
  EXPECT_EQ(encode_base64("Ma"), "TWE=");
  EXPECT_EQ(encode_base64("Man"), "TWFu");
  EXPECT_EQ(encode_base64(std::string("\0\xff\xfe\xfd", 4)), "AP/+/Q==");
}

TEST(Page, NamesFromFilesAreText) {
  EXPECT_EQ(escape_html("<img src=x onerror='a&b'>\""), "&lt;img src=x onerror=&#39;a&amp;b&#39;&gt;&quot;");
  Packet packet(0);
  const std::string page = make_page("<body><!--data--><script>x</script>",
                                     {packet.bytes({{"name", "</script><script>alert(1)</script>"}})});
  EXPECT_EQ(page.find("alert"), std::string::npos) << "data is base64";
  EXPECT_EQ(page.find("<!--data-->"), std::string::npos);
  EXPECT_EQ(make_text(Json{{"name", "\xff\xfe"}}), "{\"name\":\"\xEF\xBF\xBD\xEF\xBF\xBD\"}") << "not UTF-8";
}

TEST(Page, PolicyIsFound) {
  EXPECT_EQ(find_policy("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; x\">"),
            "default-src 'none'; x");
  EXPECT_EQ(find_policy("<html>"), "default-src 'none'");
}

}  // namespace
}  // namespace slipstick
