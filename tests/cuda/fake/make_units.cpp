// Writes the units that the kept list of texts is compiled in: make_units LIST FOLDER COUNT. A text
// lies in a namespace of its own, and the headers that texts share are included before.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "compiled.h"

int main(int n, char** arguments) {
  if (n != 4) return 1;
  std::ifstream list(arguments[1]);
  std::vector<std::ofstream> units;
  for (int k = 0; k < std::atoi(arguments[3]); ++k) {
    units.emplace_back(std::string(arguments[2]) + "/unit_" + std::to_string(k) + ".cpp");
    units.back() << "#include \"shim.h\"\n#include \"instructions.cuh\"\n#include \"reduce.cuh\"\n";
  }
  std::string text;
  size_t count = 0;
  for (std::string line; std::getline(list, line);) {
    if (line != "////") {
      text += line + "\n";
      continue;
    }
    const std::string number = std::to_string(fake::hash_of(text));
    units[count++ % units.size()] << "\n#define TENON_TEXT " << number << "ull\nnamespace text_"
                                  << number << " {\n"
                                  << text << "}\n#undef TENON_TEXT\n";
    text.clear();
  }
  for (std::ofstream& unit : units) {
    if (!unit.flush()) return 1;
  }
}
