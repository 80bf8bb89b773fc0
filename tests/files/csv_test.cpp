// CSV tables of the plugin `files`: what is taken, and that each error names its line.
#include <sys/stat.h>

#include <cmath>
#include <random>

#include "csv.h"
#include "files_support.h"

namespace tenon::files {
namespace {

using Csv = FilesTest;

TEST_F(Csv, ReadsRowsAndRemembersLines) {
  const Table t = read_csv(write("a.csv", "1,2.5,-3\r\n 4 ,\t5e2,+6\n\n"), false);
  EXPECT_EQ(t.rows, 2);
  EXPECT_EQ(t.columns, 3);
  EXPECT_EQ(t.values, (std::vector<double>{1, 2.5, -3, 4, 500, 6}));
  EXPECT_EQ(t.lines, (std::vector<uint32_t>{1, 2}));
}

TEST_F(Csv, SkipsHeaderAndByteOrderMark) {
  const Table t = read_csv(write("a.csv", "\xef\xbb\xbfx,y\n1,2"), true);
  EXPECT_EQ(t.values, (std::vector<double>{1, 2}));
  EXPECT_EQ(t.lines, (std::vector<uint32_t>{2}));
}

// As spreadsheets write them (RFC 4180).
TEST_F(Csv, FieldsMayHaveQuotes) {
  const Table t = read_csv(write("a.csv", "\"x\",\"y\"\r\n\"1\",\" 2.5 \"\r\n3,\"-4\"\r\n"), true);
  EXPECT_EQ(t.values, (std::vector<double>{1, 2.5, 3, -4}));
}

TEST_F(Csv, NamesTheLineOfWhatIsWrong) {
  for (const char* wrong : {"\"", "\"1", "1\"", "\"\"", "\"1\"2", "\"\"1\"\""}) {
    EXPECT_SAYS(read_csv(write("a.csv", std::string("1,") + wrong), false),
                std::string("a.csv:1: column 2: '") + wrong + "' is not a number");
  }
  EXPECT_SAYS(read_csv(write("a.csv", "1,2\n3,x4\n"), false),
              "a.csv:2: column 2: 'x4' is not a number");
  EXPECT_SAYS(read_csv(write("a.csv", "1,2\n3,\n"), false),
              "a.csv:2: column 2: '' is not a number");
  EXPECT_SAYS(read_csv(write("a.csv", "1,2\n\n3,4\n"), false), "a.csv:2: the line is empty");
  EXPECT_SAYS(read_csv(write("a.csv", "1,2\n3,4\n5\n"), false), "a.csv:3: 1 numbers, line 1 has 2");
  EXPECT_SAYS(read_csv(write("a.csv", "1,2\n3,4,5\n"), false), "a.csv:2: 3 numbers, line 1 has 2");
  EXPECT_SAYS(read_csv(write("a.csv", "1,nan\n"), false),
              "a.csv:1: column 2: 'nan' is not a number");
  EXPECT_SAYS(read_csv(write("a.csv", "1,1e999\n"), false),
              "'1e999' is not a number that a double can hold");
  EXPECT_SAYS(read_csv(write("a.csv", "1,+-2\n"), false), "'+-2' is not a number");
  EXPECT_SAYS(read_csv(write("a.csv", std::string("1,\0\x01\n", 5)), false),
              "'\\x00\\x01' is not a number");
}

TEST_F(Csv, RefusesWhatHasNoRows) {
  EXPECT_SAYS(read_csv(write("a.csv", ""), false), "a.csv: has no rows");
  EXPECT_SAYS(read_csv(write("a.csv", "\n\n \n"), false), "a.csv: has no rows");
  EXPECT_SAYS(read_csv(write("a.csv", "x,y\n"), true), "a.csv: has no rows");
  EXPECT_SAYS(read_csv(path("absent.csv"), false), "absent.csv: cannot be opened: No such file");
  EXPECT_SAYS(read_csv(folder_.string(), false), "is a folder, not a regular file");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_SAYS(read_csv(path("pipe"), false), "is a device or pipe, not a regular file");
}

// Random bytes, and good tables with random damage: an error or a table, and what sanitizers watch
// for neither time.
TEST_F(Csv, SurvivesRandomBytes) {
  std::mt19937 random(7);
  const std::string alphabet = "0123456789,,,\n\n\r +-.eEnainf\"\t\0\xff";
  for (int i = 0; i < 2000; ++i) {
    std::string text =
        i % 2 == 0 ? std::string(random() % 100, '\0') : "1,2.5,-3e5\n4,5,6\n7,8,9\n";
    for (char& c : text) {
      if (i % 2 == 0 || random() % 8 == 0) c = alphabet[random() % alphabet.size()];
    }
    try {
      const Table t = read_csv(write("f", text), i % 3 == 0);
      EXPECT_EQ(t.values.size(), static_cast<size_t>(t.rows * t.columns));
      for (const double value : t.values) EXPECT_TRUE(std::isfinite(value));
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("/f:"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace tenon::files
