// The plugin `tokenizers`: the ids and texts of tests/data/tokenizers/make.py are what the package
// `tokenizers` gives; what a file cannot have is refused by name; hostile files and texts take no
// time. TENON_TOKENIZERS_DATA names another folder of lines (make.py --lines).
#include <cstdlib>
#include <ctime>
#include <random>

#include <nlohmann/json.hpp>

#include <tenon/tenon.hpp>
#include <tenon/tokenizer.hpp>

#include "files_support.h"

namespace tenon {
namespace {

using nlohmann::json;
using Ids = std::vector<int64_t>;

class Tokenizers : public files::FilesTest {
 protected:
  static void SetUpTestSuite() { load_plugins(); }

  // A file of a few tokens with something in another way: a JSON merge patch (RFC 7396).
  std::string with(const char* patch, const char* base = kBpe) const {
    json file = json::parse(base);
    file.merge_patch(json::parse(patch));
    return write("a.json", file.dump());
  }
  static constexpr const char* kBpe = R"({"model": {"type": "BPE",
    "vocab": {"<unk>": 0, "a": 1, "b": 2, "c": 3, "ab": 4, "abc": 5}, "merges": ["a b", ["ab", "c"]],
    "unk_token": "<unk>"}})";
  static constexpr const char* kWords = R"({"model": {"type": "WordPiece", "unk_token": "[UNK]",
    "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "a": 1, "##b": 2, "ab": 3}}})";
};

std::filesystem::path data_folder() {
  return std::filesystem::path(std::getenv("TENON_SOURCE_DIR")) / "tests/data/tokenizers";
}

TEST_F(Tokenizers, GiveWhatThePackageGives) {
  const char* other = std::getenv("TENON_TOKENIZERS_DATA");
  const auto lines_path = (other ? std::filesystem::path(other) : data_folder()) / "lines.json";
  const json data = json::parse(std::ifstream(lines_path));
  const std::vector<std::string> lines = data["lines"];
  int64_t compared = 0, different = 0;
  for (const auto& [name, expected] : data["tokenizers"].items()) {
    const auto own = lines_path.parent_path() / (name + ".json");
    const bool has_own = std::filesystem::exists(own);
    const Tokenizer tokenizer((has_own ? own : data_folder() / (name + ".json")).string());
    EXPECT_EQ(tokenizer.vocab_size(), expected["size"]) << name;
    EXPECT_EQ(tokenizer.vocab_size(false), expected["without_added"]) << name;
    for (const json& one : expected["cases"]) {
      const std::string& line = lines[one[0]];
      const Ids ids = tokenizer.encode(line);
      ++compared;
      if (ids == one[1].get<Ids>() && tokenizer.decode(ids) == one[2]) continue;
      if (++different > 10) continue;
      ADD_FAILURE() << name << ", line " << one[0] << ", " << json(line) << ": " << json(ids)
                    << ", " << json(tokenizer.decode(ids)) << "; expected " << one[1] << ", "
                    << one[2];
    }
    for (const json& one : expected["pairs"]) {
      const size_t i = one[0];
      const auto [ids, types] =
          tokenizer.encode_pair(lines[i], lines[i + 1], {.add_special_tokens = one[1]});
      EXPECT_EQ(ids, one[2].get<Ids>()) << name << ", lines " << i;
      EXPECT_EQ(types, one[3].get<Ids>()) << name << ", lines " << i;
    }
  }
  EXPECT_EQ(different, 0);
  EXPECT_GE(compared, 1500);
  std::printf("%d encodings compared\n", static_cast<int>(compared));
}

TEST_F(Tokenizers, TokensHaveIds) {
  const Tokenizer tokenizer(with(R"({"added_tokens": [{"id": 9, "content": "<x>", "special": true,
      "single_word": false, "lstrip": false, "rstrip": false, "normalized": false}]})"));
  EXPECT_EQ(tokenizer.encode("abc<x>cab"), (Ids{5, 9, 3, 4}));
  EXPECT_EQ(tokenizer.token_to_id("ab"), 4);
  EXPECT_EQ(tokenizer.token_to_id("<x>"), 9);
  EXPECT_EQ(tokenizer.token_to_id("abcd"), std::nullopt);
  EXPECT_EQ(tokenizer.id_to_token(9), "<x>");
  EXPECT_EQ(tokenizer.vocab_size(), 7);
  EXPECT_EQ(tokenizer.vocab_size(false), 6);
  EXPECT_EQ(tokenizer.decode({5, 9, 3}), "abc c");
  EXPECT_EQ(tokenizer.decode({5, 9, 3}, false), "abc <x> c");
  EXPECT_SAYS(tokenizer.decode({5, 7}), "a.json: no token has the id 7 (there are 7)");
  EXPECT_SAYS(tokenizer.id_to_token(-1), "no token has the id -1");
}

TEST_F(Tokenizers, ZeroBytesAreText) {
  const Tokenizer tokenizer(
      with(R"({"model": {"vocab": {"\u0000": 6, "a\u0000": 7}, "merges": ["a \u0000"]}})"));
  const std::string text("a\0\0b", 4);
  EXPECT_EQ(tokenizer.encode(text), (Ids{7, 6, 2}));
  EXPECT_EQ(tokenizer.decode({7, 2}), std::string("a\0 b", 4));
  EXPECT_EQ(tokenizer.token_to_id(std::string_view("a\0", 2)), 7);
}

TEST_F(Tokenizers, BatchesAreTensors) {
  const Tokenizer tokenizer(with("{}"));
  const auto [ids, mask, types] = tokenizer.encode_batch({"abc", "ccab", ""}, {.pad_id = 8});
  EXPECT_EQ(ids.sizes().vec(), (Ids{3, 3}));
  EXPECT_EQ(ids.to_vector<int64_t>(), (Ids{5, 8, 8, 3, 3, 4, 8, 8, 8}));
  EXPECT_EQ(mask.to_vector<int64_t>(), (Ids{1, 0, 0, 1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(types.to_vector<int64_t>(), Ids(9, 0));
  const auto left =
      tokenizer.encode_batch({"c", "cccc"}, {.max_length = 2, .pad_left = true, .pad_id = 0});
  EXPECT_EQ(left.input_ids.to_vector<int64_t>(), (Ids{0, 3, 3, 3}));
  EXPECT_EQ(left.attention_mask.to_vector<int64_t>(), (Ids{0, 1, 1, 1}));
  EXPECT_SAYS(tokenizer.encode_batch({"a", "cc"}),
              "has no token to fill shorter texts up with: set pad_id");
  EXPECT_EQ(tokenizer.encode_batch({}).input_ids.numel(), 0);

  const Tokenizer fixed(
      with(R"({"padding": {"strategy": {"Fixed": 3}, "direction": "Left", "pad_id": 7,
      "pad_type_id": 1, "pad_token": "x", "pad_to_multiple_of": 2}})"));
  EXPECT_EQ(fixed.encode("c"), (Ids{7, 7, 7, 3}));
  const auto batch = fixed.encode_batch({"c", "cccccc"});
  EXPECT_EQ(batch.input_ids.sizes().vec(), (Ids{2, 6}));
  EXPECT_EQ(batch.token_type_ids.to_vector<int64_t>(), (Ids{1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(Tokenizers, RefuseTextsThatAreNone) {
  const Tokenizer tokenizer(with("{}"));
  EXPECT_SAYS(tokenizer.encode("ab\xff"), "a.json: the text is no UTF-8 at byte 2");
  EXPECT_SAYS(tokenizer.encode("\xed\xa0\x80"), "the text is no UTF-8 at byte 0");  // a surrogate
  EXPECT_SAYS(tokenizer.encode("a", {.max_length = -1}), "max_length is -1, expected at least 0");
  const Tokenizer lost(with(R"({"model": {"unk_token": "<none>"}})"));
  EXPECT_SAYS(lost.encode("ax"),
              "a.json: model: 'x' is not in the vocabulary, nor is the unk_token '<none>'");
  const Tokenizer silent(with(R"({"model": {"unk_token": null}})"));
  EXPECT_EQ(silent.encode("axb"), (Ids{4}));  // as the package has it
}

TEST_F(Tokenizers, CutAsTheyAreTold) {
  const Tokenizer tokenizer(
      with(R"({"post_processor": {"type": "BertProcessing", "sep": ["s", 8], "cls": ["c", 9]},
      "truncation": {"max_length": 5, "direction": "Right", "strategy": "OnlySecond", "stride": 0}})"));
  EXPECT_EQ(tokenizer.encode("cc"), (Ids{9, 3, 3, 8}));
  EXPECT_EQ(tokenizer.encode_pair("c", "ac").first, (Ids{9, 3, 8, 1, 8}));
  EXPECT_SAYS(tokenizer.encode("cccc"),
              "the second text is to be cut to max_length 5, and there is none");
  EXPECT_SAYS(tokenizer.encode_pair("cc", "a"),
              "a text of 1 tokens cannot be cut by 1, which max_length 5 asks for");
  EXPECT_SAYS(tokenizer.encode("c", {.max_length = 1}),
              "max_length is 1, less than the 2 tokens that are added");
}

// Every part of a file that is not what it should be, and the message.
TEST_F(Tokenizers, RefuseWhatTheyHaveNot) {
  const std::pair<const char*, const char*> kCases[] = {
      {R"({"x": 1})", "a.json: the field 'x' is not supported"},
      {R"({"version": "2.0"})", "a.json: the version '2.0' is not supported, only 1.0"},
      {R"({"model": 3})", "a.json: model: is 3, expected an object"},
      {R"({"model": null})", "a.json: the field 'model' is missing"},
      {R"({"model": {"type": "Unigram", "vocab": [["a", 0.5], ["b", -1]]}})",
       "a.json: model: the type 'Unigram' is not supported; there are BPE, WordPiece, WordLevel"},
      {R"({"model": {"type": "Unigram"}})", "model: the type 'Unigram' is not supported"},
      {R"({"model": {"vocab": [1]}})", "a.json: model: vocab is a list, expected an object"},
      {R"({"model": {"vocab": null}})", "a.json: model: the field 'vocab' is missing"},
      {R"({"model": {"merges": null}})", "a.json: model: the field 'merges' is missing"},
      {R"({"model": {"dropout": 0.1}})",
       "a.json: model: dropout 0.1 is not supported, only null and 0"},
      {R"({"model": {"fuse_unk": 1}})", "a.json: model.fuse_unk: is 1, expected true or false"},
      {R"({"model": {"vocab": {"x": 1}}})",
       "a.json: model.vocab: the id 1 is that of 'a' and of 'x'"},
      {R"({"model": {"vocab": {"x": -1}}})",
       "model.vocab: the id of 'x' is number, expected a number from 0"},
      {R"({"model": {"vocab": {"x": 3000000000}}})",
       "the id of 'x' is 3000000000, expected at most 2147483647"},
      {R"({"model": {"vocab": {"x": [1]}}})", "the id of 'x' is array, expected a number from 0"},
      {R"({"model": {"merges": ["a b", "abc"]}})",
       "model.merges[1]: expected \"left right\" or [\"left\", \"right\"]"},
      {R"({"model": {"merges": [["a", "b", "c"]]}})", "model.merges[1]: expected"},
      {R"({"model": {"merges": [["a"]]}})", "model.merges[0]: expected"},
      {R"({"model": {"merges": [5]}})", "model.merges[0]: expected"},
      {R"({"model": {"merges": ["a x"]}})",
       "model.merges[0]: the token 'x' is not in the vocabulary"},
      {R"({"model": {"merges": ["b c"]}})",
       "model.merges[0]: the token 'bc' is not in the vocabulary"},
      {R"({"model": {"continuing_subword_prefix": "####"}})",
       "model.merges[0]: 'b' is shorter than continuing_subword_prefix '####'"},
      {R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": ""}})",
       "a.json: normalizer: the type 'Precompiled' is not supported; there are Sequence, NFC,"},
      {R"({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Nmt"}]}})",
       "a.json: normalizer.normalizers[1]: the type 'Nmt' is not supported"},
      {R"({"normalizer": {"type": "NFC", "x": 1}})",
       "a.json: normalizer: the field 'x' is not supported"},
      {R"({"normalizer": {"type": "Prepend", "prepend": 1}})",
       "a.json: normalizer.prepend: is 1, expected a text"},
      {R"({"normalizer": {"type": "Replace", "pattern": {"String": ""}, "content": ""}})",
       "an empty text as a pattern"},
      {R"({"pre_tokenizer": {"type": "UnicodeScripts"}})",
       "pre_tokenizer: the type 'UnicodeScripts' is not supported"},
      {R"({"pre_tokenizer": {"type": "Metaspace", "replacement": "ab"}})",
       "pre_tokenizer.replacement: is \"ab\", expected one character"},
      {R"({"pre_tokenizer": {"type": "Metaspace", "replacement": "_", "prepend_scheme": "x"}})",
       "the prepend_scheme 'x' is not supported"},
      {R"({"pre_tokenizer": {"type": "Punctuation", "behavior": "x"}})",
       "the behavior 'x' is not supported"},
      {R"({"decoder": {"type": "CTC"}})",
       "decoder: the type 'CTC' is not supported; there are Sequence, ByteLevel"},
      {R"({"post_processor": {"type": "x"}})", "post_processor: the type 'x' is not supported"},
      {R"({"post_processor": {"type": "BertProcessing", "sep": ["a", 1], "cls": 1}})",
       "cls is expected as [token, id]"},
      {R"({"post_processor": {"type": "TemplateProcessing", "special_tokens": {}, "pair": [],
          "single": [{"SpecialToken": {"id": "x", "type_id": 0}}]}})",
       "post_processor.special_tokens: the field 'x' is missing"},
      {R"({"post_processor": {"type": "TemplateProcessing", "special_tokens": {}, "pair": [],
          "single": [{"Sequence": {"id": "B", "type_id": 0}}]}})",
       "single is expected to have A once, and no B"},
      {R"({"truncation": {"max_length": -1}})",
       "truncation.max_length: is -1, expected a number from 0 to 16777216"},
      {R"({"padding": {"strategy": "x"}})", "padding: the strategy 'x' is not supported"},
      {R"({"added_tokens": [{"content": "a", "id": 2, "single_word": false, "lstrip": false, "rstrip": false, "normalized": true,
          "special": false}]})",
       "a.json: added_tokens[0]: the id of 'a' is 2, and 1 in the vocabulary"},
      {R"({"added_tokens": [{"content": "x", "id": 2}]})",
       "added_tokens[0]: the field 'single_word' is missing"},
  };
  for (const auto& c : kCases) EXPECT_SAYS(Tokenizer(with(c.first)), c.second) << c.first;
  EXPECT_SAYS(Tokenizer(with(R"({"model": {"merges": []}})", kWords)),
              "model: the field 'merges' is not supported");
  EXPECT_SAYS(Tokenizer(with(R"({"model": {"unk_token": null}})", kWords)),
              "model: the field 'unk_token' is missing");
}

TEST_F(Tokenizers, RefuseExpressionsThatIcuReadsInAnotherWay) {
  for (const char* part :
       {"\\b", "\\K", "\\1", "\\h", "\\p{Foo}", "\\p{Alpha}", "[[:alpha:]]", "[a&&b]", "[a--b]",
        "[]a]", "(?<n>a)", "(?m:a)", "a{2}+", "a{2}?", "\\x4", "\\"}) {
    const json patch = {{"pre_tokenizer",
                         {{"type", "Split"},
                          {"pattern", {{"Regex", part}}},
                          {"behavior", "Isolated"},
                          {"invert", false}}}};
    EXPECT_SAYS(Tokenizer(with(patch.dump().c_str())),
                "a.json: pre_tokenizer.pattern: the regular expression '")
        << part;
    EXPECT_SAYS(Tokenizer(with(patch.dump().c_str())), " is not supported (byte ") << part;
  }
  for (const char* part : {"(a", "[a", "a)", "*"}) {
    const json patch = {
        {"normalizer", {{"type", "Replace"}, {"pattern", {{"Regex", part}}}, {"content", ""}}}};
    EXPECT_SAYS(Tokenizer(with(patch.dump().c_str())),
                "normalizer.pattern: the regular expression '")
        << part;
  }
}

TEST_F(Tokenizers, RefuseWhatIsNoJson) {
  EXPECT_SAYS(Tokenizer(path("none.json")), "none.json: cannot be opened");
  EXPECT_SAYS(Tokenizer(write("a.json", "")), "a.json: is not JSON at byte 1");
  EXPECT_SAYS(Tokenizer(write("a.json", "3")), "a.json: is 3, expected an object");
  EXPECT_SAYS(Tokenizer(write("a.json", R"({"model": {"vocab": {"a": 1, "a": 2}, "merges": []}})")),
              "a.json: model.vocab: the token 'a' is there twice");
  EXPECT_SAYS(Tokenizer(write("a.json", R"({"model": {"vocab": {}, "vocab": {}}})")),
              "model.vocab: is there twice");
  EXPECT_SAYS(Tokenizer(write("a.json", R"({"model": {}, "model": {}})")),
              "the field 'model' is there twice");
  EXPECT_SAYS(Tokenizer(write("a.json", std::string(100, '['))), "a.json: is nested too deep");
  std::string many = "{\"x\": [0";
  for (int i = 0; i < 600000; ++i) many += ",0";
  EXPECT_SAYS(Tokenizer(write("a.json", many + "]}")),
              "has more than 524288 values beside vocab and merges");
}

// Cut anywhere, and with bytes changed: an error or a tokenizer, and no crash.
TEST_F(Tokenizers, DamagedFilesAreErrors) {
  std::mt19937 random(1);
  for (const char* name : {"bert", "metaspace"}) {
    const std::string good = bytes_of((data_folder() / (std::string(name) + ".json")).string());
    for (size_t n = 0; n + 2 < good.size(); n += 97) {
      EXPECT_SAYS(Tokenizer(write("a.json", good.substr(0, n))), "a.json: is not JSON at byte");
    }
    for (int i = 0; i < 200; ++i) {
      std::string bad = good;
      bad[random() % (i % 2 ? bad.size() : 2000)] = static_cast<char>(random());
      files::message_of([&] { Tokenizer(write("a.json", bad)).encode("Some words, and 你好."); });
    }
  }
}

// Times of what is hostile: half a million characters that all merge, a word of WordPiece without
// end, tokens of which each begins as the text does, and spaces.
TEST_F(Tokenizers, LongPiecesTakeLittleTime) {
  const std::clock_t start = std::clock();  // of the processor, which others may keep busy
  const size_t n = 500000;
  std::string text;
  for (size_t i = 0; i < n / 2; ++i) text += "ab";
  EXPECT_EQ(Tokenizer(with("{}")).encode(text).size(), n / 2);
  const char* endless = R"({"model": {"max_input_chars_per_word": 100000000}})";
  EXPECT_EQ(Tokenizer(with(endless, kWords)).encode("a" + std::string(n, 'b')).size(), n);
  json added = json::array();
  for (int i = 1; i <= 60; ++i) {
    added.push_back({{"id", 10 + i},
                     {"content", std::string(50u * unsigned(i), 'z') + "y"},
                     {"special", false},
                     {"single_word", false},
                     {"lstrip", true},
                     {"rstrip", true},
                     {"normalized", false}});
  }
  added.push_back({{"id", 90},
                   {"content", " "},
                   {"special", false},
                   {"single_word", false},
                   {"lstrip", true},
                   {"rstrip", true},
                   {"normalized", false}});
  const json patch = {{"added_tokens", added}};
  EXPECT_EQ(Tokenizer(with(patch.dump().c_str())).encode(std::string(20000, 'z') + "c").size(),
            20001u);
  EXPECT_EQ(Tokenizer(with(patch.dump().c_str())).encode(std::string(n, ' ')).size(), 1u);
  const Tokenizer gpt((data_folder() / "byte_level.json").string());
  EXPECT_GT(gpt.encode(std::string(n, ' ') + "x").size(), 1u);
  const Tokenizer llama3((data_folder() / "split_byte_level.json").string());
  EXPECT_GT(llama3.encode(std::string(n, ' ') + "x").size(), 1u);
  EXPECT_LT((std::clock() - start) / CLOCKS_PER_SEC, 60);
}

// Each of these makes much of little.
TEST_F(Tokenizers, RefuseToGrowWithoutEnd) {
  json replace = {
      {"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(100, 'a')}};
  const json patch = {{"normalizer", {{"type", "Sequence"}, {"normalizers", json(6, replace)}}}};
  const Tokenizer tokenizer(with(patch.dump().c_str()));
  EXPECT_EQ(tokenizer.encode("b"), Ids{2});
  EXPECT_SAYS(tokenizer.encode("a"), "the tokenizer makes more than 268435456 bytes of the text");
  const std::string special =
      R"({"post_processor": {"type": "TemplateProcessing", "pair": [], "single": [)";
  const std::string part = R"({"SpecialToken": {"id": "x", "type_id": 0}})";
  EXPECT_SAYS(
      Tokenizer(with((special + part + "," + part + R"(], "special_tokens": {"x": {"ids": )" +
                      json(3000, 1).dump() + "}}}}")
                         .c_str())),
      "a.json: post_processor: single adds more than 4096 tokens");
  const json prefix = {{"model", {{"continuing_subword_prefix", std::string(257, '#')}}}};
  EXPECT_SAYS(Tokenizer(with(prefix.dump().c_str())),
              "a.json: model: continuing_subword_prefix has 257 bytes, expected at most 256");
  const json token = {{"model", {{"vocab", {{std::string(4097, 'x'), 9}}}}}};
  EXPECT_SAYS(Tokenizer(with(token.dump().c_str(), kWords)),
              "a token has 4097 bytes; those of WordPiece may have 4096");
}

TEST_F(Tokenizers, AnExpressionWithoutEndIsEnded) {
  const Tokenizer tokenizer(
      with(R"({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(x+x+)+y"},
      "behavior": "Isolated", "invert": false}})"));
  EXPECT_EQ(tokenizer.encode("xxab").size(), 3u);
  EXPECT_SAYS(tokenizer.encode(std::string(3000, 'x')), "takes too long for this text");
}

}  // namespace
}  // namespace tenon
