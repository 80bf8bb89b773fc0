// Files to begin with, made after the descriptions of their formats: tables, arrays, weights, and
// the files of trainings.
#include "file_formats.h"

namespace tenon::fuzz {

using namespace file_bytes;

namespace {

std::string gzip(const std::string& bytes) {
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + stored_block(bytes) +
         little(checksum(bytes), 4) + little(bytes.size(), 4);
}

std::vector<std::string> with_packed(std::vector<std::string> files) {
  const size_t n = files.size();
  for (size_t i = 0; i < n; ++i) files.push_back(gzip(files[i]));
  files.push_back(gzip(files[0]) + gzip(files[1]));  // two members
  return files;
}

std::string npy(const std::string& header, const std::string& data, int version = 1) {
  return "\x93NUMPY" + std::string{static_cast<char>(version), '\0'} +
         little(header.size(), version == 1 ? 2 : 4) + header + data;
}

struct ZipEntry {
  std::string name, bytes;
  bool packed = false, wide = false;  // by Deflate; with sizes of 64 bits
};

std::string zip(const std::vector<ZipEntry>& entries, const std::string& comment = "") {
  std::string file, directory;
  for (const ZipEntry& e : entries) {
    const std::string data = e.packed ? stored_block(e.bytes) : e.bytes;
    const uint64_t beyond = 0xffffffff;
    const std::string sizes =
        little(e.wide ? beyond : data.size(), 4) + little(e.wide ? beyond : e.bytes.size(), 4);
    const std::string extra =
        e.wide ? little(1, 2) + little(16, 2) + little(e.bytes.size(), 8) + little(data.size(), 8)
               : "";
    const std::string common = little(0, 2) + little(e.packed ? 8 : 0, 2) + little(0, 4) +
                               little(checksum(e.bytes), 4) + sizes + little(e.name.size(), 2) +
                               little(extra.size(), 2);
    directory += "PK\1\2" + little(45, 2) + little(45, 2) + common + little(0, 2) + little(0, 2) +
                 little(0, 2) + little(0, 4) + little(file.size(), 4) + e.name + extra;
    file += "PK\3\4" + little(45, 2) + common + e.name + extra + data;
  }
  const size_t begin = file.size(), n = entries.size();
  return file + directory + "PK\5\6" + little(0, 4) + little(n, 2) + little(n, 2) +
         little(directory.size(), 4) + little(begin, 4) + little(comment.size(), 2) + comment;
}

const char* const kFloats = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
const char* const kColumns = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }\n";
const char* const kBools = "{\"descr\": \"|b1\", \"fortran_order\": False, \"shape\": (3, 1)}";

}  // namespace

std::vector<std::string> csv_corpus() {
  return with_packed({"1,2,3\n4,5,6\n", "a,b\r\n0.5, -1e3\r\n+7,.25\r\n\r\n",
                      "\xef\xbb\xbf"
                      "1\n2",
                      "1e308,1e-320\n", "nan,1\n", "\"a\";\"b \"\"c\"\"\n\"\n1;NA\n", "1,2\n3\n",
                      "\n", ""});
}

std::vector<std::string> idx_corpus() {
  std::vector<std::string> files = {
      std::string("\0\0\x08\x01", 4) + big(3, 4) + "abc",
      std::string("\0\0\x0d\x02", 4) + big(1, 4) + big(2, 4) + "01234567"};
  for (const char type : {'\x09', '\x0b', '\x0c', '\x0e'})
    files.push_back(std::string("\0\0", 2) + type + '\3' + big(1, 4) + big(1, 4) + big(1, 4) +
                    "12345678");
  files.push_back(std::string("\0\0\x08\x02", 4) + big(0, 4) +
                  big(0xffffffff, 4));  // none, of 4 GiB
  files.push_back(std::string("\0\0\x0e\x04", 4) + big(0xffffffff, 4) + big(0xffffffff, 4) +
                  big(0xffffffff, 4) + big(0xffffffff, 4));
  return with_packed(files);
}

std::vector<std::string> npy_corpus() {
  return with_packed(
      {npy(kFloats, "01234567"), npy(kColumns, "01234567"),
       npy(kBools, std::string("\0\1\1", 3), 2),
       npy("{'descr': '<i8', 'fortran_order': False, 'shape': ()}", "01234567", 3),
       npy("{'descr': '<f8', 'fortran_order': True, 'shape': (0, 4294967296, 4294967296)}", ""),
       npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
           "01234567"),
       npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "0123"),
       npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "0123")});
}

std::vector<std::string> npz_corpus() {
  const std::string floats = npy(kFloats, "01234567"), columns = npy(kColumns, "01234567");
  return {
      zip({{"a.npy", floats}, {"b.npy", columns}}),
      zip({{"a.npy", floats, true}, {"folder/b.npy", columns, true}}, "a comment"),
      zip({{"a.npy", floats, false, true}, {"b.npy", columns, true, true}, {"notes.txt", "none"}}),
      zip({{"a.npy", floats}, {"a.npy", columns}, {".npy", ""}}), zip({})};
}

std::vector<std::string> cifar_corpus() {
  const std::string image(3072, '\x55');
  return {'\3' + image,   '\3' + image + '\7' + image, '\2' + ('\x30' + image),
          '\x0a' + image, gzip('\3' + image),          image};
}

std::vector<std::string> safetensors_corpus() {
  const auto file = [](const std::string& header, const std::string& data) {
    return little(header.size(), 8) + header + data;
  };
  return {
      file(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "01234567"),
      file(
          R"({"__metadata__":{"format":"pt"},"a":{"dtype":"BOOL","shape":[1,2],"data_offsets":[0,2]},)"
          R"("b\u00e9":{"dtype":"I64","shape":[],"data_offsets":[2,10]}}  )",
          std::string("\0\1", 2) + "01234567"),
      file(R"({"e":{"dtype":"BF16","shape":[0,4],"data_offsets":[0,0]},)"
           R"("f":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}})",
           "0123"),
      file(R"({"w":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,8]}})",
           "01234567"),
      file("{}", ""),
      little(99999999, 8) + "{",
      "PK\3\4 a zip archive",
      "\x80\2\x8a pickle of torch"};
}

std::vector<std::string> text_corpus() {
  return with_packed({"one\ntwo\r\n\nlast", "\xef\xbb\xbf\xc3\xa9\xe4\xbd\xa0\xf0\x9f\x98\x80\n",
                      "cut \xe4\xbd", std::string("zero \0", 6), "\xed\xa0\x80", ""});
}

std::vector<std::string> training_corpus() {
  return {
      R"({"data": {"csv": "a.csv", "label": "first", "header": true, "scale": 0.5, "test_every": 6},
 "model": [{"layer": "Linear", "in_features": 4, "out_features": 2}, {"layer": "ReLU", "repeat": 3}],
 "optimizer": {"optimizer": "AdamW", "lr": 1e-3, "betas": [0.9, 0.99]},
 "schedule": {"schedule": "cosine", "warmup_steps": 5, "min_lr": 0}, "loss": "cross_entropy",
 "metrics": ["accuracy", "top_5", "f1"], "early_stopping": {"patience": 2, "min_delta": 0.1},
 "clip_grad_norm": 1, "accumulate": 2, "compile": true, "device": "cpu", "seed": 7, "epochs": 2, "batch_size": 8})",
      R"({"data": {"images": "i", "labels": "l", "shape": [1, 28, 28], "test_every": 6},
 "augment": [{"transform": "RandomCrop", "padding": 2}, {"transform": "Cutout", "size": 8, "holes": 2},
  {"transform": "ColorJitter", "brightness": 0.1}, {"transform": "RandomRotation", "degrees": 9}],
 "model": [{"residual": [{"layer": "Conv2d", "kernel_size": [3, 3], "name": "c"}]},
  {"branches": {"a": [{"shared": "c"}], "b": [{"layer": "Sequential", "layers": [{"layer": "Flatten"}]}]},
   "join": "concat", "dim": 1}], "optimizer": {"optimizer": "SGD"}, "loss": "mse_loss",
 "schedule": {"schedule": "multi_step", "milestones": [1, 2], "gamma": 0.5}, "epochs": 1, "batch_size": 1})",
      R"({"data": {"text": ["a.txt", "b"], "context": 16, "validation": 0.2}, "model":
 [{"layer": "Embedding", "num_embeddings": "vocab", "padding_idx": null, "sparse": false}],
 "schedule": {"schedule": "plateau", "factor": 0.5}, "batch_size": 4})",
      R"({"data": {"safetensors": "s", "input": "x", "target": "y", "test_every": 2}, "model": [{}],
 "batch_size": 1e400, "\u0000": 9223372036854775808, "\ud800": -0.0})",
      std::string(80, '[') + std::string(80, ']'),
      "{\"data\": {\"csv\": \"\xff\"}}",
      ""};
}

}  // namespace tenon::fuzz
