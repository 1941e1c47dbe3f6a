#include "mask_choices.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "grid.h"

namespace heddle {
namespace {

constexpr std::string_view kModel = "{model}", kSeparators = "-_.";
constexpr const char* kNone = "none";

bool endsWith(std::string& text, std::string_view ending) {
  if (!text.ends_with(ending)) return false;
  text.resize(text.size() - ending.size());
  return true;
}

}  // namespace

std::string MaskChoice::fileOf(const std::string& network) const {
  std::string own = file;
  for (std::size_t at = own.find(kModel); at != std::string::npos;
       at = own.find(kModel, at + network.size()))
    own.replace(at, kModel.size(), network);
  return own;
}

std::string maskName(const std::string& file) {
  std::string name = std::filesystem::path(file).filename().string();
  endsWith(name, ".npz");
  endsWith(name, ".masks");  // as 'heddle prune' names them
  const std::size_t at = name.find(kModel);
  if (at == std::string::npos) return name;
  name.erase(at, kModel.size());
  // What parted the network's name from the rest goes with it.
  if (at < name.size() && kSeparators.find(name[at]) != std::string_view::npos) {
    name.erase(at, 1);
  } else if (at > 0 && kSeparators.find(name[at - 1]) != std::string_view::npos) {
    name.erase(at - 1, 1);
  }
  return name.empty() ? "masked" : name;
}

Result<std::vector<MaskChoice>> readMaskChoices(const SweepOptions& options) {
  const auto fault = [](const Argument& at, std::string summary, std::string what,
                        std::string mend) {
    return faultAt(at.where, "SWEEP013", std::move(summary), std::move(what), std::move(mend));
  };
  std::vector<MaskChoice> choices;
  std::set<std::string> names;
  for (const Argument& text : options.masks) {
    std::string_view rest = text.text;
    for (bool more = true; more;) {
      const std::size_t comma = rest.find(',');
      const std::string file(rest.substr(0, comma));
      more = comma != std::string_view::npos;
      if (more) rest.remove_prefix(comma + 1);
      if (file.empty())
        return fault(text, "a mask file of '" + text.text + "' has no name", "",
                     "write it like 'none,half.npz'");
      MaskChoice choice;
      if (file != kNone) choice = {.name = maskName(file), .file = file};
      if (!choice.file.empty() && options.models.size() > 1 &&
          file.find(kModel) == std::string::npos)
        return fault(text, "'" + file + "' cannot be the masks of several networks",
                     "a mask file is for one", "write {model} where the network's name stands");
      if (!names.insert(choice.name).second)
        return fault(text, "two choices of masks are called '" + choice.name + "'",
                     "tables tell them by the name of the file", "give one of them another name");
      choices.push_back(std::move(choice));
    }
  }
  if (choices.empty()) choices.emplace_back();
  return choices;
}

}  // namespace heddle
