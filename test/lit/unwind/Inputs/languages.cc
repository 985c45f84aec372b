// Throws what nothing catches: what the first argument names; with a second one through a noexcept function.
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace app {
template <class T> struct failure : std::runtime_error { using std::runtime_error::runtime_error; };
struct own_text : std::runtime_error {
  own_text() : std::runtime_error("base") {}
  const char* what() const noexcept override { return "own"; }
};
struct empty {};
} // namespace app

[[gnu::noinline]] void fail(const char* what) {
  const auto is = [&](const char* name) { return std::strcmp(what, name) == 0; };
  if (is("runtime")) throw std::runtime_error("the server is\non fire");
  if (is("range")) (void)std::string("abc").at(7);
  if (is("own")) throw app::failure<int>("a failure");
  if (is("own-text")) throw app::own_text();
  if (is("system")) throw std::system_error(2, std::generic_category(), "open");
  if (is("int")) throw -42;
  if (is("text")) throw "a text";
  if (is("string")) throw std::string("a string of more than fifteen bytes");
  if (is("alloc")) throw std::bad_alloc();
  if (is("empty")) throw app::empty();
  if (is("rethrow")) try {
      throw std::logic_error("twice");
    } catch (...) {
      throw;
    }
  if (is("pointer")) std::rethrow_exception(std::make_exception_ptr(std::domain_error("kept")));
  std::abort();
}

void quiet(const char* what) noexcept {
  fail(what);
}

int main(int count, char** arguments) {
  if (count > 2) quiet(arguments[1]);
  fail(arguments[1]);
}
