#include "heddle/driver/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <vector>

#include "heddle/support/check.h"

namespace heddle {

namespace {

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new()) {
    HEDDLE_CHECK(context_ && EVP_DigestInit_ex(context_, EVP_sha256(), nullptr) == 1)
        << "libcrypto has no SHA-256";
  }
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;
  ~Digest() { EVP_MD_CTX_free(context_); }

  void add(const void* bytes, std::size_t count) { EVP_DigestUpdate(context_, bytes, count); }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    EVP_DigestFinal_ex(context_, digest.data(), &length);
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (unsigned i = 0; i < length; ++i) {
      text += kDigits[digest[i] >> 4];
      text += kDigits[digest[i] & 15];
    }
    return text;
  }

 private:
  EVP_MD_CTX* context_;
};

}  // namespace

std::string sha256(std::span<const std::uint8_t> bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.hex();
}

Result<std::string> sha256OfFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  Digest digest;
  std::vector<char> piece(1 << 20);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0)
    digest.add(piece.data(), static_cast<std::size_t>(in.gcount()));
  if (!in.eof())
    return Diagnostic{.code = "FILE001",
                      .where = path.string(),
                      .summary = "the file cannot be read",
                      .what = "reading failed",
                      .mend = "check the path and its permissions"};
  return digest.hex();
}

std::string sha256(std::string_view text) {
  return sha256(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

}  // namespace heddle
