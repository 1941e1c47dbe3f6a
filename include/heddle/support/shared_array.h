// An array whose copies share its elements, for what is large and seldom changed: a copy costs as
// much as a pointer. It is a value nevertheless: who changes one changes no other.
//
//   SharedArray<std::int8_t> a(std::vector<std::int8_t>{1, 2, 3}), b = a;   b.data() == a.data()
//   b.own()[0] = 7;                                                        a[0] == 1
#pragma once
#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace heddle {

template <class T>
class SharedArray {
 public:
  SharedArray() = default;
  SharedArray(std::vector<T> elements)  // NOLINT: one is as good as the other
      : elements_(std::make_shared<std::vector<T>>(std::move(elements))) {}
  SharedArray(std::initializer_list<T> elements) : SharedArray(std::vector<T>(elements)) {}

  std::size_t size() const { return elements_ ? elements_->size() : 0; }
  bool empty() const { return size() == 0; }
  const T* data() const { return elements_ ? elements_->data() : nullptr; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  const T& operator[](std::size_t i) const { return (*elements_)[i]; }

  // To be changed: copied before where another array shares them.
  std::vector<T>& own() {
    if (!elements_)
      elements_ = std::make_shared<std::vector<T>>();
    else if (elements_.use_count() > 1)
      elements_ = std::make_shared<std::vector<T>>(*elements_);
    else  // whoever has given it up on another thread has read it before
      std::atomic_thread_fence(std::memory_order_acquire);
    return *elements_;
  }

  friend bool operator==(const SharedArray& a, const SharedArray& b) {
    return a.elements_ == b.elements_ || std::ranges::equal(a, b);
  }

 private:
  std::shared_ptr<std::vector<T>> elements_;
};

}  // namespace heddle
