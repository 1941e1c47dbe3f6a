// The page with its data: gzip in base64, which is small and holds no character that markup could
// be made of.
#include <zlib.h>

#include <array>

#include "heddle/emit/timeline_json.h"
#include "timeline_page.h"

namespace heddle {
namespace {

constexpr int kGzip = 15 + 16;  // zlib: largest window, gzip header

std::string gzip(const std::string& text) {
  z_stream stream{};
  HEDDLE_CHECK(deflateInit2(&stream, 6, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) == Z_OK)
      << "zlib";
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  HEDDLE_CHECK(status == Z_STREAM_END) << "zlib status " << status;
  return out;
}

std::string base64(const std::string& bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U;
    };
    const unsigned group = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (unsigned k = 0; k < 4; ++k)
      out += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace

std::string timelineHtml(const std::vector<std::string>& jsons) {
  constexpr std::string_view kPlace = "@TIMELINES@";
  const std::size_t at = kTimelinePage.find(kPlace);
  HEDDLE_CHECK(at != std::string_view::npos) << "viewer/page.html has no place for the data";
  std::string page(kTimelinePage.substr(0, at));
  for (const std::string& json : jsons)
    page += "<script type=\"application/octet-stream\" class=\"timeline\">" + base64(gzip(json)) +
            "</script>\n";
  page += kTimelinePage.substr(at + kPlace.size());
  return page;
}

}  // namespace heddle
