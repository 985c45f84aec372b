// Has the data of a Python interpreter, at the places of CPython 3.MINOR: Include/internal/pycore_frame.h and
// others; 3.13 states its places (pycore_runtime.h, _Py_DebugOffsets), which are made up here.
typedef unsigned long word;

void end_process(void);
int process_id(void);

#if MINOR == 11
// clang-format off
enum {
  interpreters = 40, interpreter_next = 0, interpreter_threads = 16, gil_locked = 376, gil_holder = 368,
  thread_next = 8, thread_id = 160, thread_frame = 56, in_cframe = 8, frame_previous = 48, frame_code =
  32, frame_instruction = 56, frame_owner = 69, code_file = 112, code_name = 128, code_lines = 136,
  code_first_line = 72, code_instructions = 184, text_length = 16, text_state = 32, ascii_size = 48,
  compact_size = 72, object_type = 8, type_name = 24, bytes_size = 16, bytes_data = 32
};
// clang-format on
#elif MINOR == 12
// clang-format off
enum {
  interpreters = 40, interpreter_next = 0, interpreter_threads = 72, gil_pointer = 384, gil_locked = 16,
  gil_holder = 8, thread_next = 8, thread_id = 144, thread_frame = 56, in_cframe = 0, frame_previous = 8,
  frame_code = 0, frame_instruction = 56, frame_owner = 70, code_file = 112, code_name = 128, code_lines =
  136, code_first_line = 68, code_instructions = 192, text_length = 16, text_state = 32, ascii_size = 40,
  compact_size = 56, object_type = 8, type_name = 24, bytes_size = 16, bytes_data = 32
};
// clang-format on
#else
// clang-format off
enum {
  interpreters = 0x300, interpreter_next = 0x18, interpreter_threads = 0x40, gil_pointer = 0x58,
  gil_locked = 0x20, gil_holder = 0x30, thread_next = 0x28, thread_id = 0x38, thread_frame = 0x50,
  frame_previous = 0x10, frame_code = 0x28, frame_instruction = 0x40, frame_owner = 0x4b, code_file =
  0x20, code_name = 0x38, code_lines = 0x50, code_first_line = 0x64, code_instructions = 0x90, text_length
  = 0x18, text_state = 0x28, ascii_size = 0x40, compact_size = 0x50, object_type = 0x10, type_name = 0x30,
  bytes_size = 0x20, bytes_data = 0x38
};
// clang-format on
#endif

word Py_Version = 0x030000f0 | MINOR << 16;
char _PyRuntime[1024];
static char interpreter[512], gil[64], threads[2][256], cframe[16], frames[4][128], codes[2][256],
    types[2][64], texts[4][128], tables[2][128];

static void set(char* object, unsigned at, const void* value) {
  *(word*)(object + at) = (word)value;
}

// ASCII, or characters of `kind` bytes.
static void set_text(char* object, const char* characters, word size, unsigned kind, int ascii) {
  set(object, object_type, types[0]);
  set(object, text_length, (void*)size);
  *(unsigned*)(object + text_state) = 1 | kind << 2 | 1 << 5 | (unsigned)ascii << 6;
  for (word i = 0; i < size * kind; ++i) object[(ascii ? ascii_size : compact_size) + i] = characters[i];
}

static void set_code(unsigned number, char* name, const char* lines, word size) {
  char* const code = codes[number];
  set(code, object_type, types[1]);
  set(code, code_file, texts[1]);
  set(code, code_name, name);
  set(code, code_lines, tables[number]);
  *(unsigned*)(code + code_first_line) = 10;
  set(tables[number], bytes_size, (void*)size);
  for (word i = 0; i < size; ++i) tables[number][bytes_data + i] = lines[i];
}

static void set_frame(unsigned number, unsigned code, unsigned offset, char owner) {
  char* const frame = frames[number];
  if (number) set(frame, frame_previous, frames[number - 1]);
  set(frame, frame_code, codes[code]);
  set(frame, frame_instruction, codes[code] + code_instructions + offset);
  frame[frame_owner] = owner;
}

int main(void) {
#if MINOR == 13
  static const unsigned short offsets[71] = {
      [5] = interpreters,         [8] = interpreter_next, [9] = interpreter_threads,
      [14] = gil_pointer,         [15] = 0x1000,          [17] = 0x1000 + gil_locked,
      [18] = 0x1000 + gil_holder, [21] = thread_next,     [23] = thread_frame,
      [25] = thread_id,           [29] = frame_previous,  [30] = frame_code,
      [31] = frame_instruction,   [33] = frame_owner,     [35] = code_file,
      [37] = code_name,           [38] = code_lines,      [39] = code_first_line,
      [43] = code_instructions,   [45] = object_type,     [47] = type_name,
      [65] = bytes_size,          [66] = bytes_data,      [68] = text_state,
      [69] = text_length,         [70] = ascii_size};
  for (unsigned i = 0; i < 71; ++i) set(_PyRuntime, 8 * i, (void*)(word)offsets[i]);
  for (unsigned i = 0; i < 8; ++i) _PyRuntime[i] = "xdebugpy"[i];
#endif
  set(_PyRuntime, interpreters, interpreter);
  set(interpreter, interpreter_threads, threads[0]);
#if MINOR == 11
  set(_PyRuntime, gil_holder, threads[0]);
  *(int*)(_PyRuntime + gil_locked) = 1;
  set(cframe, in_cframe, frames[3]);
  set(threads[0], thread_frame, cframe);
#else
  set(interpreter, gil_pointer, gil);
  set(gil, gil_holder, threads[0]);
  *(int*)(gil + gil_locked) = 1;
  set(threads[0], thread_frame, frames[3]);
#endif
  set(threads[0], thread_next, threads[1]);
  set(threads[0], thread_id, (void*)(word)process_id());
  set(threads[1], thread_id, (void*)77);
  set(types[0], type_name, "str");
  set(types[1], type_name, "code");
  set_text(texts[0], "<module>", 8, 1, 1);
  set_text(texts[1], "/srv/a.py", 9, 1, 1);
  set_text(texts[2], "c\0a\0f\0\xac\x20\x80\xdc", 5, 2, 0);
  // Entries: a code in bits 3 to 6, the number of instructions less one in the lowest; columns, and lines as
  // signed numbers.
  static const char first[] = {(char)(0x80 | 13 << 3 | 3), 0x44, 1,          // 34 lines further
                               (char)(0x80 | 14 << 3 | 1), 0x43, 1, 0, 1, 2, // 33 lines back
                               (char)(0x80 | 15 << 3),                       // none
                               (char)(0x80 | 11 << 3 | 7), 4,    5};
  static const char second[] = {(char)(0x80 | 1 << 3 | 7), 0x20, (char)(0x80 | 12 << 3), 1, 2};
  set_code(0, texts[0], first, sizeof first);
  set_code(1, texts[2], second, sizeof second);
  set_frame(0, 0, 14, 0);
  set_frame(1, 1, 2, 0);
  set_frame(2, 0, 0, 3); // of C, since 3.12
  set_frame(3, 1, 16, 0);
#if MINOR == 11
  frames[2][frame_owner] = 0;
#endif
  end_process();
  return 0;
}
