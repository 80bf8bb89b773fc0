// Texts as data: lines and folders of them by the plugin `files`, and what makes tokens of them.
#include <tenon/data/text.hpp>
#include <tenon/tenon.hpp>

#include "files_support.h"
#include "text_file.h"

namespace tenon::files {
namespace {

class Texts : public FilesTest {
 protected:
  static void SetUpTestSuite() { load_plugins(); }

  // Whole words, [PAD] is 0.
  Tokenizer tokenizer() const {
    return Tokenizer(write("tokenizer.json", R"({"pre_tokenizer": {"type": "Whitespace"},
      "added_tokens": [{"id": 0, "content": "[PAD]", "special": true, "single_word": false, "lstrip": false,
                        "rstrip": false, "normalized": false}],
      "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"[PAD]": 0, "?": 1, "a": 2, "cat": 3, "sat": 4}}})"));
  }
};

using Numbers = std::vector<int64_t>;

TEST_F(Texts, LinesAreSamples) {
  const data::TextLines lines(write("a", "\xef\xbb\xbfone\r\n\ntwo \xc3\xa9\nlast"));
  ASSERT_EQ(lines.size(), 4);
  EXPECT_EQ(lines.get(0), "one");
  EXPECT_EQ(lines.get(1), "");
  EXPECT_EQ(lines.get(2), "two \xc3\xa9");
  EXPECT_EQ(lines.get(3), "last");
  EXPECT_EQ(data::TextLines(write("b", "one\n")).size(), 1);
  EXPECT_EQ(data::TextLines(write("c", "")).size(), 0);
  EXPECT_EQ(data::load_text(path("a")), "one\r\n\ntwo \xc3\xa9\nlast");
  std::vector<std::string> seen;
  for (const std::vector<std::string>& batch : data::DataLoader(lines, {.batch_size = 3})) {
    seen.push_back(batch[0]);
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"one", "last"}));
  EXPECT_SAYS(lines.get(4), path("a") + ": line 4 of 4, counted from 0");
}

TEST_F(Texts, RefusesWhatIsNoText) {
  EXPECT_SAYS(TextReader(write("a", "one\nab\xe4\n")),
              path("a") + ":2: byte 2 of the line is e4, which is no UTF-8");
  EXPECT_SAYS(TextReader(write("a", std::string("one\0two", 7))),
              path("a") + ":1: byte 3 of the line is 00, and no text has zeros");
  EXPECT_SAYS(TextReader(write("a", "\xed\xa0\x80")), "which is no UTF-8");  // half of a pair
  EXPECT_SAYS(TextReader(path("absent")), "absent: cannot be opened");
}

TEST_F(Texts, FoldersAreClasses) {
  for (const char* name : {"good", "bad"}) fs::create_directory(folder_ / name);
  write("good/b.txt", "a cat");
  write("bad/a.TXT", "a dog sat\n");
  write("bad/notes.md", "no text");
  const data::TextFolder folder(folder_.string());
  EXPECT_EQ(folder.classes(), (std::vector<std::string>{"bad", "good"}));
  ASSERT_EQ(folder.size(), 2);
  EXPECT_EQ(folder.path(1), path("good/b.txt"));
  EXPECT_EQ(folder.get(0), (std::pair<std::string, int64_t>{"a dog sat\n", 0}));
  EXPECT_EQ(folder.get(1).second, 1);
  EXPECT_SAYS(folder.get(2), folder_.string() + ": text 2 of 2");
  fs::create_directory(folder_ / "empty");
  EXPECT_SAYS(data::TextFolder(path("empty")),
              "empty: has no .txt in folders of its own, one for each class");
  EXPECT_SAYS(data::TextFolder(folder_.string()),
              ": the class 'empty' has no text, a file that ends in .txt");
  EXPECT_SAYS(data::TextFolder(path("absent")), "absent: cannot be read as a folder: No such file");
}

TEST_F(Texts, BecomeTokensInALoader) {
  try {
    tokenizer();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();  // its plugin is left out where ICU is not there
  }
  for (const char* name : {"good", "bad"}) fs::create_directory(folder_ / name);
  write("good/b.txt", "a cat");
  write("bad/a.txt", "a dog sat\n");
  data::DataLoader batches(data::TextFolder(folder_.string()), {.batch_size = 2, .num_workers = 1},
                           data::TokenCollate(tokenizer()));
  for (auto [ids, mask, labels] : batches) {
    EXPECT_EQ(ids.sizes(), (Ints{2, 3}));
    EXPECT_EQ(ids.to_vector<int64_t>(), (Numbers{2, 1, 4, 2, 3, 0}));
    EXPECT_EQ(mask.to_vector<int64_t>(), (Numbers{1, 1, 1, 1, 1, 0}));
    EXPECT_EQ(labels.to_vector<int64_t>(), (Numbers{0, 1}));
  }
  data::DataLoader cut(data::TextLines(write("lines", "a cat sat\nsat")), {.batch_size = 2},
                       data::TokenCollate(tokenizer(), {.max_length = 2}));
  for (auto [ids, mask] : cut) EXPECT_EQ(ids.to_vector<int64_t>(), (Numbers{2, 3, 4, 0}));
}

TEST_F(Texts, TokensHaveWindows) {
  const data::TokenWindows windows({1, 2, 3, 4, 5, 6, 7, 8}, 3);
  ASSERT_EQ(windows.size(), 2);  // 8 would need a ninth token behind it
  auto [x, y] = windows.get(1);
  EXPECT_EQ(x.to_vector<int64_t>(), (Numbers{4, 5, 6}));
  EXPECT_EQ(y.to_vector<int64_t>(), (Numbers{5, 6, 7}));
  EXPECT_SAYS(windows.get(2), "TokenWindows: window 2 of 2");
  EXPECT_SAYS(data::TokenWindows({1, 2}, 2),
              "TokenWindows: context is 2 for 2 tokens, expected 1 or more, and less than these");
}

}  // namespace
}  // namespace tenon::files
