"""Prints a header: a class with 30 functions, one with 31 that holds one with 32, and much that is
none."""
NOT_FUNCTIONS = """  using Call = int (*)(int);
  friend bool operator==(const Outer&, const Outer&) = default;
  static constexpr int values[] = {f(1), f(2)};
  int number = f(3), other{f(4)};
  std::function<void(int)> run;
  // void comment();
"""
KINDS = [
    "  int f{}(int);",
    "  bool is{}() const {{ return f(1) == 2; }}",
    "  virtual ~X{}() = default;",
    "  template <class T, class U = std::vector<T>> T make{}(U&& from);",
    "  [[nodiscard]] std::map<int, std::string> text{}(int size = f(1)) const noexcept;",
    "  explicit X{}(int value) : value_(value), other_{{value}} {{}}",
    "  Outer& operator=(X{}&&) = delete;",
]


def functions(count):
    return "\n".join(KINDS[i % len(KINDS)].format(i) for i in range(count)) + "\n"


print("class Most {\npublic:\n" + NOT_FUNCTIONS + functions(30) + "};")
print("class Outer final : public Base {\npublic:\n" + NOT_FUNCTIONS + functions(31))
print("private:\n  struct Inner {\n" + functions(32) + NOT_FUNCTIONS + "  };\n  Inner inner_;\n};")
