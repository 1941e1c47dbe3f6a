// Words, numbers, strings, ids and affine numbers of the asm, and the rules that rules are made
// with.
//
// A rule that has to match says in `expected` what a reader of the message should have written
// there. Into<R, path...> is R whose value goes to that member of the Draft.
#pragma once
#include <tao/pegtl.hpp>

#include "asm_draft.h"
#include "asm_words.h"

namespace heddle::asm_text {
namespace peg = tao::pegtl;
using peg::opt, peg::plus, peg::seq, peg::sor, peg::star;

// A rule that cannot fail needs no name for what it expects.
template <class R>
inline constexpr bool neverFails = false;
template <class... R>
inline constexpr bool neverFails<opt<R...>> = true;
template <class... R>
inline constexpr bool neverFails<star<R...>> = true;

// R has to match here; where it does not, the fault is at the start of R.
template <class R>
struct MustOne {
  static_assert(
      neverFails<R> || requires { R::expected(); }, "say what R expects");
  using rule_t = MustOne;
  using subs_t = peg::type_list<R>;

  template <peg::apply_mode A, peg::rewind_mode, template <typename...> class Action,
            template <typename...> class Control, class Input, class... States>
  static bool match(Input& in, States&&... states) {
    if (!Control<R>::template match<A, peg::rewind_mode::required, Action, Control>(in, states...))
      Control<R>::raise(static_cast<const Input&>(in), states...);
    return true;
  }
};
template <class... R>
struct Must : seq<MustOne<R>...> {};
template <class... R>
inline constexpr bool neverFails<Must<R...>> = true;
// Once `First` has matched, the rest must.
template <class First, class... Rest>
struct IfMust : seq<First, MustOne<Rest>...> {};
template <class R, class Separator>
struct ListMust : seq<R, star<Separator, MustOne<R>>> {
  static std::string expected() { return R::expected(); }
};

// ---- tokens -------------------------------------------------------------------------------------

struct Space : star<peg::one<' ', '\t'>> {};

template <std::size_t N>
struct Literal {
  char text[N];
  consteval Literal(const char (&t)[N]) {  // NOLINT: from a string literal
    for (std::size_t i = 0; i < N; ++i) text[i] = t[i];
  }
};

constexpr bool continuesWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A word that stands alone (`in`, not the start of `input`) or a symbol, and the blanks after it.
template <class Input>
bool matchWord(Input& in, std::string_view text) {
  const bool named =
      (text.back() >= 'a' && text.back() <= 'z') || (text.back() >= 'A' && text.back() <= 'Z');
  if (in.size(text.size()) < text.size() || std::string_view(in.current(), text.size()) != text)
    return false;
  std::size_t n = text.size();
  if (named && in.size(n + 1) > n && continuesWord(in.current()[n])) return false;
  while (in.size(n + 1) > n && (in.current()[n] == ' ' || in.current()[n] == '\t')) ++n;
  in.bump_in_this_line(n);
  return true;
}
template <Literal L>
struct Word {
  using rule_t = Word;
  using subs_t = peg::empty_list;
  static constexpr std::string_view text{L.text, sizeof L.text - 1};
  static std::string expected() { return "'" + std::string(text) + "'"; }
  template <class Input>
  static bool match(Input& in) {
    return matchWord(in, text);
  }
};

template <class R, auto... path>
struct Into : seq<R> {
  static std::string expected() { return R::expected(); }
};
// Sets a member to a constant when R matches.
template <class R, auto value, auto... path>
struct Set : seq<R> {
  static std::string expected() { return R::expected(); }
};

struct Digits : sor<seq<peg::string<'0', 'x'>, plus<peg::xdigit>>, plus<peg::digit>> {};
struct Integer : seq<opt<peg::one<'-'>>, Digits> {};
struct Number : seq<Integer, peg::not_at<peg::identifier_other>, Space> {
  static std::string expected() { return "a number"; }
};
struct RealText : seq<opt<peg::one<'-'>>, plus<peg::digit>, opt<peg::one<'.'>, plus<peg::digit>>,
                      opt<peg::one<'e'>, opt<peg::one<'+', '-'>>, plus<peg::digit>>> {};
struct Real : seq<RealText, peg::not_at<peg::identifier_other>, Space> {
  static std::string expected() { return "a real number"; }
};

struct Escaped
    : seq<peg::one<'\\'>, sor<peg::one<'"', '\\'>, seq<peg::one<'x'>, peg::rep<2, peg::xdigit>>>> {
};
struct Plain : plus<peg::not_one<'"', '\\', '\n', '\r', '\0'>> {};
struct StringStart : peg::one<'"'> {};
struct Closing : peg::one<'"'> {
  static std::string expected() {
    return "the rest of a string: characters, \\\", \\\\, \\x and two hex digits, then '\"'";
  }
};
struct String : seq<StringStart, star<sor<Plain, Escaped>>, Must<Closing>, Space> {
  static std::string expected() { return "a string in double quotes"; }
};

struct IdNumber : plus<peg::digit> {};
struct NoId : Word<"none"> {};
template <char sigil>
struct IdOf : sor<NoId, seq<peg::one<sigil>, IdNumber, peg::not_at<peg::identifier_other>, Space>> {
  static std::string expected() {
    return std::string("an id: ") + sigil + " and a number, or 'none'";
  }
};
using TensorName = IdOf<'%'>;
using KernelName = IdOf<'k'>;
struct LayerName : sor<NoId, seq<IdNumber, peg::not_at<peg::identifier_other>, Space>> {
  static std::string expected() { return "the number of a layer, or 'none'"; }
};

// ---- affine numbers -----------------------------------------------------------------------------

struct AffineStart : peg::success {};
struct Plus : Word<"+"> {};
struct Minus : Word<"-"> {};
struct Factor : seq<Digits, peg::not_at<peg::identifier_other>, Space> {};
struct Counter
    : seq<peg::one<'i'>, peg::range<'0', '5'>, peg::not_at<peg::identifier_other>, Space> {};
struct RowVariable : Word<"row"> {};
struct ColumnVariable : Word<"column"> {};
struct Variable : sor<Counter, RowVariable, ColumnVariable> {
  static std::string expected() { return "'row', 'column' or a loop counter (i0 to i5)"; }
};
struct Constant : peg::success {};
struct Term : sor<seq<Factor, sor<IfMust<Word<"*">, Variable>, Constant>>, Variable> {};
struct AffineNumber : seq<AffineStart, opt<Minus>, Term, star<sor<Plus, Minus>, Term>> {
  static std::string expected() { return "a number such as 128 + 64*i0 - 2*row"; }
};

template <auto... path>
using AffineInto = Into<AffineNumber, path...>;
template <auto... path>
using NumberInto = Into<Number, path...>;

}  // namespace heddle::asm_text
