// Text of others in messages: what cannot be seen is escaped, what is long is cut, and the nearest
// name is found in bounded time.
#include "tenon/messages.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenon::messages {
namespace {

TEST(Messages, EscapeWhatCannotBeSeen) {
  EXPECT_EQ(printable("a\x1b[31mb\rc\nd\te\x7f"), "a\\x1b[31mb\\x0dc\\x0ad\\x09e\\x7f");
  EXPECT_EQ(printable(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // C1's CSI
  for (const char* hidden :
       {"\xe2\x80\xae", "\xe2\x81\xa6", "\xd8\x9c", "\xe2\x80\xa8", "\xe2\x80\x8b", "\xef\xbb\xbf",
        "\xc2\xad", "\xf3\xa0\x81\x81", "\xef\xbf\xbf"}) {
    EXPECT_EQ(printable(hidden).find(hidden), std::string::npos) << printable(hidden);
  }
}

TEST(Messages, LeaveTextOfAnyLanguageAsItIs) {
  for (const char* text : {"Zeile 1: \xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f", "\xe6\xbc\xa2\xe5\xad\x97",
                           "\xf0\x9f\x90\x8c", "\xd0\xb0\xd0\xb1", "back\\slash 'quoted'"}) {
    EXPECT_EQ(printable(text), text);
  }
}

// RFC 3629: no lone continuation, nothing cut short, overlong, of the surrogates, or beyond
// U+10FFFF.
TEST(Messages, EscapeWhatIsNoUtf8) {
  EXPECT_EQ(printable("\x80"), "\\x80");
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xc3("), "\\xc3(");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("\xe2\x82"
                      "a"),
            "\\xe2\\x82"
            "a");
}

TEST(Messages, CutLongNamesAndSayHowLongTheyAre) {
  EXPECT_EQ(printable(std::string(80, 'a')), std::string(80, 'a'));
  EXPECT_EQ(printable(std::string(100'000, 'a')), std::string(80, 'a') + "... (100000 bytes)");
  std::string umlauts = "x";
  for (int i = 0; i < 50; ++i) umlauts += "\xc3\xa4";
  EXPECT_EQ(printable(umlauts).find("\\x"), std::string::npos) << "a character is cut in two";
}

TEST(Messages, KeepBeginningAndEndOfALongMessage) {
  const std::string text =
      cleaned("file.json:3: '" + std::string(100'000, 'a') + "': cannot be read");
  EXPECT_LE(text.size(), 4096u);
  EXPECT_TRUE(text.starts_with("file.json:3: 'aaa"));
  EXPECT_TRUE(text.ends_with("aaa': cannot be read"));
  EXPECT_NE(text.find(" bytes left out) ... "), std::string::npos);
  EXPECT_LE(cleaned(std::string(100'000, '\x01')).size(), 4096u);  // each of four characters
  EXPECT_EQ(cleaned("two\n  lines\tof it"), "two\n  lines\tof it");
  EXPECT_EQ(cleaned("\x1b[2J"), "\\x1b[2J");
}

TEST(Messages, SuggestTheNearestName) {
  const std::vector<std::string> known = {"linear", "matmul", "relu", "Conv2d"};
  EXPECT_EQ(did_you_mean("liner", known), "; did you mean 'linear'?");
  EXPECT_EQ(did_you_mean("conv2d", known), "; did you mean 'Conv2d'?");
  EXPECT_EQ(did_you_mean("MATMUL", known), "; did you mean 'matmul'?");
  EXPECT_EQ(did_you_mean("softmax", known), "");
  EXPECT_EQ(did_you_mean("x", known), "");
  EXPECT_EQ(did_you_mean("", known), "");
  EXPECT_EQ(did_you_mean("ab", std::vector<std::string>{"zz"}), "");  // nothing of it is left
}

// 10^6 bytes against each of 50,000 names would take minutes; here no byte of them is compared.
TEST(Messages, CompareNoNameThatIsLong) {
  const std::vector<std::string> known(50'000, std::string(100, 'a'));
  EXPECT_EQ(nearest(std::string(1'000'000, 'a'), known), "");
  EXPECT_EQ(nearest(std::string(64, 'a'), known), "");
  const std::vector<std::string> limit = {std::string(65, 'a'), std::string(64, 'a')};
  EXPECT_EQ(nearest(std::string(63, 'a'), limit), limit[1]);
}

}  // namespace
}  // namespace tenon::messages
