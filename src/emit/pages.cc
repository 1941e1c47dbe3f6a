#include "pages.h"

#include <zlib.h>

#include "heddle/support/check.h"

namespace heddle {
namespace {

constexpr int kGzip = 15 + 16;  // zlib: largest window, gzip header

std::string gzip(std::string_view text) {
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

std::string pageWithData(std::string_view page, std::string_view place,
                         const std::vector<PageData>& data) {
  const std::size_t at = page.find(place);
  HEDDLE_CHECK(at != std::string_view::npos) << "the page of viewer/ has no " << place;
  std::string out(page.substr(0, at));
  for (const auto& [css_class, text] : data) {
    out += "<script type=\"application/octet-stream\" class=\"";
    out += css_class;
    out += "\">" + base64(gzip(text)) + "</script>\n";
  }
  out += page.substr(at + place.size());
  return out;
}

}  // namespace heddle
