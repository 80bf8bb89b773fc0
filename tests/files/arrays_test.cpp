// What NumPy and CIFAR write, and what gzip packs, read by the plugin `files`: what is taken, and that
// damaged, cut or hostile files are refused with what is wrong. Files of NumPy 2.4 are kept as hex.
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

#include "cifar.h"
#include "csv.h"
#include "files_support.h"
#include "idx.h"
#include "npy.h"

#ifdef TENON_FILES_ZLIB
#include <zlib.h>
#endif

namespace tenon::files {
namespace {

using Arrays = FilesTest;

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

const std::string kFloats = from_hex(
    "934e554d5059010076007b276465736372273a20273c6634272c2027666f727472616e5f6f7264657227"
    "3a2046616c73652c20277368617065273a2028322c2033292c207d202020202020202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "200a000000000000003f0000803f0000c03f0000004000002040");
const std::string kColumnsBigEndian = from_hex(
    "934e554d5059010076007b276465736372273a20273e6932272c2027666f727472616e5f6f7264657227"
    "3a20547275652c20277368617065273a2028322c2033292c207d20202020202020202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "200afffd0000fffe0001ffff0002");
const std::string kStored = from_hex(
    "504b03042d00000000000000210059a48ba3ffffffffffffffff0b001400776569676874732e6e707901"
    "00100098000000000000009800000000000000934e554d5059010076007b276465736372273a20273c66"
    "38272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028332c292c"
    "207d20202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "20202020202020202020202020202020202020200a000000000000f83f00000000000000c0355800662d"
    "eb517e504b03042d000000000000002100f46c7e67ffffffffffffffff080014006d61736b2e6e707901"
    "00100082000000000000008200000000000000934e554d5059010076007b276465736372273a20277c62"
    "31272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c2031"
    "292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020"
    "20202020202020202020202020202020202020200a0100504b01022d032d00000000000000210059a48b"
    "a398000000980000000b0000000000000000000000800100000000776569676874732e6e7079504b0102"
    "2d032d000000000000002100f46c7e6782000000820000000800000000000000000000008001d5000000"
    "6d61736b2e6e7079504b050600000000020002006f000000910100000000");
const std::string kCompressed = from_hex(
    "504b03042d00000008000000210097956520ffffffffffffffff090014007a65726f732e6e7079010010"
    "0040130000000000006800000000000000edc8310a83401400d1b5cd297ef713d842d02aa44e17b1b1b0"
    "924557120831ec8a8d780a2facb9422a8b79ddcc5a548fb24ecc6466ed7c6c835e456faf5cad683f8431"
    "b84f3384cefffeddbda3df7f7cbaafdffb9c59c9d3f46265913f9d0c00000000000070601b504b03042d"
    "00000008000000210071dc0eb4ffffffffffffffff0800140068616c662e6e7079010010008200000000"
    "00000044000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a4aea3a09e965f"
    "54529498179f5f94920a12774bcc294e058a17672416a402f91a9a3a0ab50a14012e060b00504b01022d"
    "032d0000000800000021009795652068000000401300000900000000000000000000008001000000007a"
    "65726f732e6e7079504b01022d032d00000008000000210071dc0eb44400000082000000080000000000"
    "0000000000008001a300000068616c662e6e7079504b050600000000020002006d000000210100000000");

template <typename T>
std::vector<T> values(const NpyReader& reader) {
  size_t n = 1;
  for (const int64_t size : reader.shape()) n *= static_cast<size_t>(size);
  std::vector<T> list(n);
  reader.read(list.data());
  return list;
}

// A .npy file of version 1 with this header.
std::string npy(const std::string& header, const std::string& data) {
  const auto n = static_cast<char>(header.size());
  return std::string("\x93NUMPY\1\0", 8) + n + std::string(1, '\0') + header + data;
}

TEST_F(Arrays, ReadsWhatNumpyWrites) {
  const NpyReader floats(write("a.npy", kFloats));
  EXPECT_EQ(floats.dtype(), TN_FLOAT32);
  EXPECT_EQ(floats.shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(values<float>(floats), (std::vector<float>{0, 0.5, 1, 1.5, 2, 2.5}));
  const NpyReader columns(write("b.npy", kColumnsBigEndian));
  EXPECT_EQ(columns.dtype(), TN_INT16);
  EXPECT_EQ(values<int16_t>(columns), (std::vector<int16_t>{-3, -2, -1, 0, 1, 2}));
}

TEST_F(Arrays, ReadsEachType) {
  const auto dtype = [&](const std::string& descr, size_t bytes) {
    return NpyReader(
               write("a.npy", npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': ()}",
                                  std::string(bytes, '\0'))))
        .dtype();
  };
  EXPECT_EQ(dtype("<f8", 8), TN_FLOAT64);
  EXPECT_EQ(dtype("<f2", 2), TN_FLOAT16);
  EXPECT_EQ(dtype(">i8", 8), TN_INT64);
  EXPECT_EQ(dtype("=i4", 4), TN_INT32);
  EXPECT_EQ(dtype("|i1", 1), TN_INT8);
  EXPECT_EQ(dtype("|u1", 1), TN_UINT8);
  EXPECT_EQ(dtype("|b1", 1), TN_BOOL);
  EXPECT_EQ(dtype("<u2", 2), TN_INT32);
  EXPECT_EQ(dtype(">u4", 4), TN_INT64);
  EXPECT_EQ(dtype("<u8", 8), TN_INT64);
}

TEST_F(Arrays, UnsignedIntegersBecomeWideEnough) {
  const auto array = [&](const char* descr, const char* order, const std::string& data) {
    const std::string header =
        std::string("{'descr': '") + descr + "', 'fortran_order': " + order + ", 'shape': (2, 2)}";
    return NpyReader(write("a.npy", npy(header, data)));
  };
  const std::string shorts("\1\0\2\0\377\377\0\200", 8);
  EXPECT_EQ(values<int32_t>(array("<u2", "False", shorts)),
            (std::vector<int32_t>{1, 2, 65535, 32768}));
  EXPECT_EQ(values<int32_t>(array("<u2", "True", shorts)),
            (std::vector<int32_t>{1, 65535, 2, 32768}));
  EXPECT_EQ(values<int32_t>(array(">u2", "False", shorts)),
            (std::vector<int32_t>{256, 512, 65535, 128}));
  std::string words(16, '\0');
  words[3] = '\377';
  EXPECT_EQ(values<int64_t>(array("<u4", "False", words)),
            (std::vector<int64_t>{0xff000000, 0, 0, 0}));
  std::string longs(32, '\0');
  longs[30] = '\177';
  EXPECT_EQ(values<int64_t>(array("<u8", "False", longs)),
            (std::vector<int64_t>{0, 0, 0, int64_t{0x7f} << 48}));
  longs[31] = '\200';
  EXPECT_SAYS(values<int64_t>(array("<u8", "False", longs)),
              "a.npy: value 3 is 2^63 or more, and int64 ends before it");
}

// As numpy.load does: no order of bytes, and the longs of Python 2.
TEST_F(Arrays, ReadsOldHeaders) {
  const NpyReader reader(write(
      "a.npy",
      npy("{'descr': 'f4', 'fortran_order': False, 'shape': (2L, 3L)}", std::string(6 * 4, '\0'))));
  EXPECT_EQ(reader.dtype(), TN_FLOAT32);
  EXPECT_EQ(reader.shape(), (std::vector<int64_t>{2, 3}));
  const NpyReader one(
      write("b.npy", npy("{'descr': 'u1', 'fortran_order': False, 'shape': (2L,)}", "ab")));
  EXPECT_EQ(values<uint8_t>(one), (std::vector<uint8_t>{'a', 'b'}));
  EXPECT_SAYS(
      NpyReader(write("c.npy", npy("{'descr': 'f4', 'fortran_order': False, 'shape': (2M,)}", ""))),
      "comma in 'shape'");
}

TEST_F(Arrays, RefusesDamagedNpy) {
  const auto says = [&](const std::string& bytes, const char* part) {
    EXPECT_SAYS(values<uint8_t>(NpyReader(write("a.npy", bytes))), part);
  };
  const std::string good = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)}";
  EXPECT_EQ(values<uint8_t>(NpyReader(write("a.npy", npy(good, "abcdef")))).size(), 6u);
  says("", "a.npy: is no .npy file, which begins with");
  says("\x93NUMPX\1\0", "is no .npy file");
  says(std::string("\x93NUMPY\4\0", 8), "is of version 4 of the format, expected 1, 2 or 3");
  says(std::string("\x93NUMPY\1\0", 8), "8 bytes, its header has more");
  says(std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12),
       "claims a header of 4294967295 bytes, 0 follow");
  says(npy(good, "abcde"), "shape [2, 3] of 1 bytes each does not fill the 5 bytes of data");
  says(npy(good, "abcdefg"), "does not fill the 7 bytes of data");
  says(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", ""),
       "does not fill the 0 bytes of data");
  says(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "12345678"),
       "its values are '|O', expected f8, f4, f2, i8, i4, i2, i1, u8, u4, u2, u1 or b1");
  says(npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234"),
       "its values are records");
  says(npy("{'descr': '|u1', 'shape': (1,)}", "1"), "no 'descr', 'fortran_order' and 'shape'");
  says(npy("{'descr': '|u1', 'fortran_order': 1, 'shape': (1,)}", "1"),
       "no truth of 'fortran_order'");
  says(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (-1,)}", "1"), "no size in 'shape'");
  says(npy("{'magic': 1}", ""), "unknown key 'magic' in its header");
  says(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1,)} x", "1"), "no end");
  says(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
           "1"),
       "has more than 16 dimensions");
  says(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", "\1\2"),
       "value 1 is 2, a bool is 0 or 1");
}

// CIFAR-10: record i has class i and colours of (i + k) % 251.
std::string cifar(int64_t n, const std::string& label) {
  std::string bytes;
  for (int64_t i = 0; i < n; ++i) {
    bytes += label + static_cast<char>(i);
    for (int64_t k = 0; k < 3072; ++k) bytes.push_back(static_cast<char>((i + k) % 251));
  }
  return bytes;
}

TEST_F(Arrays, ReadsCifar) {
  const CifarReader ten(write("a.bin", cifar(5, "")), 10);
  EXPECT_EQ(ten.size(), 5);
  std::vector<int64_t> labels(5);
  ten.read_labels(labels.data(), false);
  EXPECT_EQ(labels, (std::vector<int64_t>{0, 1, 2, 3, 4}));
  std::vector<uint8_t> images(5 * 3072);
  ten.read_images(images.data());
  for (size_t i = 0; i < images.size(); ++i) ASSERT_EQ(images[i], (i / 3072 + i % 3072) % 251);
  const CifarReader hundred(write("b.bin", cifar(2, "\x13")), 100);
  hundred.read_labels(labels.data(), true);
  EXPECT_EQ(labels[1], 19);
  hundred.read_labels(labels.data(), false);
  EXPECT_EQ(labels[1], 1);
}

TEST_F(Arrays, RefusesDamagedCifar) {
  int64_t label = 0;
  EXPECT_SAYS(CifarReader(write("a", "abc"), 10),
              "a: 3 bytes are no images of CIFAR-10, which have 3073 each");
  EXPECT_SAYS(CifarReader(write("a", ""), 100),
              "0 bytes are no images of CIFAR-100, which have 3074");
  EXPECT_SAYS(CifarReader(write("a", "abc"), 20), "CIFAR of 20 classes, there are 10 and 100");
  EXPECT_SAYS(CifarReader(write("a", cifar(1, "")), 10).read_labels(&label, true),
              "CIFAR-10 has no coarse classes");
  EXPECT_SAYS(
      CifarReader(write("a", "\x0a" + cifar(1, "").substr(1)), 10).read_labels(&label, false),
      "image 0 is of class 10, expected 0 to 9");
}

#ifdef TENON_FILES_ZLIB

std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST_F(Arrays, ReadsArchives) {
  const NpzReader stored(write("a.npz", kStored));
  EXPECT_EQ(stored.names(), (std::vector<std::string>{"weights", "mask"}));
  EXPECT_EQ(values<double>(stored.array("weights")), (std::vector<double>{1.5, -2, 3e300}));
  EXPECT_EQ(stored.array("mask").shape(), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(values<uint8_t>(stored.array("mask")), (std::vector<uint8_t>{1, 0}));
  const NpzReader compressed(write("b.npz", kCompressed));
  EXPECT_EQ(values<int32_t>(compressed.array("zeros")), std::vector<int32_t>(1200));
  EXPECT_EQ(compressed.array("half").dtype(), TN_FLOAT16);
  EXPECT_SAYS(stored.array("none"), "a.npz: no array 'none' among its 2");
}

std::vector<double> second_column(const CsvTable& table) {
  std::vector<double> values;
  table.read({.kinds = {CsvTable::Kind::kSkipped, CsvTable::Kind::kNumber},
              .number = [&](int64_t, int64_t, double value) { values.push_back(value); }});
  return values;
}

TEST_F(Arrays, ReadsWhatGzipPacked) {
  EXPECT_EQ(values<float>(NpyReader(write("a.npy.gz", gzipped(kFloats)))).size(), 6u);
  const std::string idx("\0\0\x08\1\0\0\0\3abc", 11);
  const IdxReader reader(write("i.gz", gzipped(idx)));
  char bytes[3];
  reader.read(bytes);
  EXPECT_EQ(std::string(bytes, 3), "abc");
  // gzip's files may be put one behind the other.
  EXPECT_EQ(second_column(CsvTable(write("t.csv.gz", gzipped("1,2\n") + gzipped("3,4\n")))),
            (std::vector<double>{2, 4}));
  EXPECT_EQ(CifarReader(write("c.gz", gzipped(cifar(3, ""))), 10).size(), 3);
  // Longer than a piece: what lies before the part that is read is left out.
  std::string rows;
  for (int i = 0; i < 30000; ++i) rows += std::to_string(i) + "," + std::to_string(i * 7) + "\n";
  EXPECT_EQ(second_column(CsvTable(write("long.csv.gz", gzipped(rows)))).at(29999), 29999 * 7);
}

TEST_F(Arrays, RefusesDamagedArchives) {
  const auto says = [&](const std::string& bytes, const char* part) {
    EXPECT_SAYS(
        {
          const NpzReader reader(write("a.npz", bytes));
          for (const std::string& name : reader.names()) {
            const NpyReader array = reader.array(name);
            std::string memory(bytes.size() + 8192, '\0');
            array.read(memory.data());
          }
        },
        part);
  };
  says("", "is no .npz archive, or is cut");
  says(kStored.substr(0, kStored.size() - 1), "is no .npz archive, or is cut");
  std::string bytes = kStored;
  bytes[kStored.size() - 12] = '\x7f';  // more entries than there is room for
  says(bytes, "claims a directory of 127 entries in");
  bytes = kStored;
  bytes[bytes.find("\x93NUMPY") + 130] ^= 1;  // in the first array's values
  says(bytes, "a.npz: array 'weights': its checksum is");
  bytes = kCompressed;
  bytes[bytes.find("zeros.npy") + 9 + 20 + 10] ^= 0x55;
  says(bytes, "a.npz: array 'zeros': ");
}

TEST_F(Arrays, ZerosBehindGzipArePadding) {
  const std::string packed = gzipped("1,2\n3,4\n"), zeros(70000, '\0');
  EXPECT_EQ(second_column(CsvTable(write("a.csv.gz", packed + std::string(1, '\0')))),
            (std::vector<double>{2, 4}));
  EXPECT_EQ(second_column(CsvTable(write("b.csv.gz", packed + zeros))),
            (std::vector<double>{2, 4}));
  EXPECT_SAYS(CsvTable(write("c.csv.gz", packed + zeros + "x")), "behind its end and zeros");
  EXPECT_SAYS(CsvTable(write("d.csv.gz", packed + "x")), "d.csv.gz: ");
}

TEST_F(Arrays, RefusesDamagedGzip) {
  const std::string good = gzipped(kFloats);
  for (size_t n = 2; n < good.size(); ++n) {
    EXPECT_SAYS(NpyReader(write("a.gz", good.substr(0, n))), "its packed bytes end before");
  }
  EXPECT_SAYS(NpyReader(write("a.gz", good + "more")), "a.gz: cannot be unpacked at byte");
  std::string bytes = good;
  bytes[bytes.size() - 6] ^= 1;  // of its checksum
  EXPECT_SAYS(NpyReader(write("a.gz", bytes)), "incorrect data check");
}

// A file of a few kilobytes that claims, or unpacks to, far more is refused without a memory of it.
TEST_F(Arrays, HostileFilesTakeNoMemory) {
  std::string zeros = gzipped(std::string(16 << 20, '\0'));
  std::string many;
  for (int i = 0; i < 8; ++i) many += zeros;
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  EXPECT_SAYS(NpyReader(write("a.npy.gz", many)), "is no .npy file");
  EXPECT_SAYS(IdxReader(write("a.gz", many)), "begins with 00 00 00");
  EXPECT_SAYS(
      NpyReader(write("a.npy",
                      npy("{'descr': '<f8', 'fortran_order': False, 'shape': (134217728,)}", "x"))),
      "does not fill the 1 bytes of data");
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 48 << 10);  // KiB
}

#endif

// Good files with random damage, cut anywhere: an error that names the file, or a reading within
// bounds.
TEST_F(Arrays, SurviveRandomDamage) {
  std::mt19937 random(7);
  const auto damaged = [&](std::string bytes) {
    for (int n = static_cast<int>(random() % 5); n > 0; --n) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    return bytes;
  };
  const auto tried = [&](const std::function<void()>& body) {
    try {
      body();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("/f"), std::string::npos) << error.what();
    }
  };
  for (int i = 0; i < 1500; ++i) {
    for (const std::string& good : {kFloats, kColumnsBigEndian}) {
      tried([&] {
        const NpyReader reader(write("f", damaged(good)));
        std::string memory(good.size() * 2, '\0');
        reader.read(memory.data());
      });
    }
    for (const std::string& good : {kStored, kCompressed}) {
      tried([&] {
        const NpzReader reader(write("f", damaged(good)));
        for (const std::string& name : reader.names()) {
          const NpyReader array = reader.array(name);
          std::string memory(8192, '\0');
          array.read(memory.data());
        }
      });
    }
  }
}

}  // namespace
}  // namespace tenon::files
