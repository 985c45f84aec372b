// Dies as a C++ program does of an exception that nothing catches: __cxa_exception and _Unwind_Exception as
// libstdc++ has them (unwind-cxx.h), types and objects by the Itanium C++ ABI, sections 2.2.1 and 2.9. The
// argument is the number of what is thrown.
#define KEEP __attribute__((noinline, noclone))
typedef unsigned long word;

void end_process(void);
volatile word sink;

KEEP void terminate(void) __asm__("_ZSt9terminatev");
KEEP void cxa_throw(word* header) __asm__("__cxa_throw");
KEEP const char* what(void) __asm__("_ZNKSt13runtime_error4whatEv");

void terminate(void) {
  end_process();
  ++sink;
}

// Needs the header after the call, so that the frame has it in a register.
void cxa_throw(word* header) {
  terminate();
  sink = *header;
}

const char* what(void) {
  return "unused";
}

static word functions[] = {0, 0, (word)what};
static const char text[] = "the server is\non fire";

static const struct {
  const char* type;
  word object[2];
} kinds[] = {{"i", {0x555555550000002a, 0}},
             {"PKc", {(word)text, 0}},
             {"NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", {(word)text, 10}},
             {"*St13runtime_error", {(word)functions, (word)text}}};
static word type[2];

// The type is the first of ten words; a header of four words; the object.
static word exception[16] = {(word)type, [10] = 0x474e5543432b2b00};
// One that was thrown again refers to the object.
static word again[16] = {(word)&exception[14], [10] = 0x474e5543432b2b01};

int main(int count, char** arguments) {
  const unsigned kind = count > 1 ? arguments[1][0] - '0' : 0;
  type[1] = (word)kinds[kind % 4].type;
  exception[14] = kinds[kind % 4].object[0];
  exception[15] = kinds[kind % 4].object[1];
  cxa_throw((kind > 3 ? again : exception) + 10);
  return (int)sink;
}
