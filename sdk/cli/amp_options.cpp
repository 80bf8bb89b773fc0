#include "amp_options.h"

#include <fmt/format.h>

namespace tenon::cli {
namespace po = boost::program_options;

void add_amp_options(po::options_description& options, const std::string& what) {
  const std::string policy =
      what + " in mixed precision by this policy (O0 to O3), instead of the file's";
  options.add_options()                                                        //
      ("amp", po::value<std::string>()->value_name("POLICY"), policy.c_str())  //
      ("amp-dtype", po::value<std::string>()->value_name("DTYPE"),
       "of --amp: float16 or bfloat16, instead of the device's own");
}

void read_amp(const Line& line, const std::string& command, Overrides* overrides) {
  if (line.has("amp-dtype") && !line.has("amp"))
    throw UsageError(fmt::format("{}: --amp-dtype is there without --amp", command));
  overrides->amp = name_of(line, "amp");
  overrides->amp_dtype = name_of(line, "amp-dtype");
}

}  // namespace tenon::cli
