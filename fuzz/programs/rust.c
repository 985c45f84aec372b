// Dies as a Rust program does of a panic inside of another one: the standard library's handler, the payload,
// its table of virtual functions and the place as in library/std/src/panicking.rs. The argument is the number
// of the payload.
#define KEEP __attribute__((noinline, noclone))
#define NAMED(name) __asm__("_ZN3std9panicking" name "17h0123456789abcdefE")
typedef unsigned long word;

void end_process(void);
volatile word sink;

struct text {
  const char* start;
  word size;
};
struct place {
  struct text file;
  unsigned line, column;
};

KEEP void handler(word* payload, const word* table, const struct place* place, int depth)
    NAMED("20rust_panic_with_hook");
KEEP void newer_handler(word* payload, const word* table, const struct place* place, int depth)
    NAMED("15panic_with_hook");
KEEP void static_text(void) NAMED("19begin_panic_handler16StaticStrPayload3get");
KEEP void formatted(void) NAMED("19begin_panic_handler19FormatStringPayload3get");
KEEP void older_formatted(void) NAMED("19begin_panic_handler12PanicPayload8take_box");
KEEP void text(void) NAMED("11begin_panic7PayloadReE");

void static_text(void) {}
void formatted(void) {}
void older_formatted(void) {}
void text(void) {}

#define TABLE(size, function)                                                                                \
  { 0, size, 8, (word)function, (word)function, (word)function }
static const word tables[][6] = {TABLE(16, static_text), TABLE(32, formatted), TABLE(32, older_formatted),
                                 TABLE(16, text)};
static const struct place places[] = {{{"src/main.rs", 11}, 7, 5}, {{"src/other.rs", 12}, 70, 50}};
static unsigned kind;

KEEP void start(int depth) {
  static const char texts[] = "the first, the second";
  const word address = (word)texts + 11 * depth, size = 9;
  word payloads[][4] = {{address, size}, {size, address, size, 0}, {0, address, size, size}, {address, size}};
  word* const payload = payloads[kind % 4];
  (kind < 4 ? handler : newer_handler)(payload, tables[kind % 4], &places[depth], depth);
  sink = payload[0];
}

void handler(word* payload, const word* table, const struct place* place, int depth) {
  const volatile word kept[] = {(word)payload, (word)table, (word)place};
  if (depth == 0)
    start(1);
  else
    end_process();
  sink = kept[0] + kept[1] + kept[2];
}

// Has the arguments in registers only.
void newer_handler(word* payload, const word* table, const struct place* place, int depth) {
  if (depth == 0)
    start(1);
  else
    end_process();
  sink = *payload + table[1] + place->line;
}

int main(int count, char** arguments) {
  kind = count > 1 ? arguments[1][0] - '0' : 0;
  start(0);
  return (int)sink;
}
