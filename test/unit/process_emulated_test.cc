// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packets of gdb's remote protocol, and where they have registers.

#include "emulated/connection.h"
#include "emulated/registers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace process_emulated_test {

using namespace sframe;
using namespace sframe::process::emulated;

/// Answers with these bytes, whatever it is asked.
Result<std::string> answer_of(const std::string& bytes) {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  EXPECT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::shutdown(ends[1], SHUT_WR);
  Connection connection(ends[0]);
  auto answer = connection.ask("g");
  ::close(ends[1]);
  return answer;
}

// "Debugging with GDB", E.1: the sum is that of the bytes as they are sent, modulo 256; '}' and '*'.
TEST(GdbPackets, Framing) {
  EXPECT_EQ(answer_of("+$OK#9a").value(), "OK");
  EXPECT_EQ(answer_of("++$#00").value(), "");
  EXPECT_EQ(answer_of("+%Stop:T05#00$OK#9a").value(), "OK"); // a notice
  EXPECT_EQ(answer_of("+$0* #7a").value(), "0000");          // ' ' is 32: 3 more
  EXPECT_EQ(answer_of("+$a}\x03z#5b").value(), "a#z");
  EXPECT_EQ(answer_of("+$OK#99$OK#9a").value(), "OK"); // sent again
}

TEST(GdbPackets, Malformed) {
  EXPECT_EQ(answer_of("").error().what, "the connection was closed");
  EXPECT_EQ(answer_of("+$O").error().what, "the connection was closed");
  EXPECT_EQ(answer_of("+$OK#zz").error().what, "a malformed answer: no sum of its bytes");
  EXPECT_EQ(answer_of("+$*~#a8").error().what, "a malformed answer: nothing to repeat");
  EXPECT_EQ(answer_of("+$OK#00$OK#00$OK#00$OK#00$OK#9a").error().what, "damaged answers");
  EXPECT_EQ(answer_of(std::string(2000, '+') + "$OK#9a").error().what, "no packets, but other bytes");
  EXPECT_FALSE(from_hex("123"));
  EXPECT_FALSE(from_hex("1g"));
  EXPECT_EQ(from_hex("414a").value(), "AJ");
  EXPECT_EQ(from_hex("4A4f").value(), "JO");
  EXPECT_EQ(from_hex("").value(), "");
  for (const char* wrong : {"4/", "4:", "4@", "4G", "4`", "4g", "/4"}) EXPECT_FALSE(from_hex(wrong)) << wrong;
}

/// Before an answer come 1024 bytes or notices that are none; not more.
TEST(GdbPackets, Stray) {
  const auto notices = [](unsigned count) {
    std::string bytes;
    while (count--) bytes += "%a#61";
    return bytes;
  };
  EXPECT_EQ(answer_of(std::string(1024, '+') + "$OK#9a").value_or(""), "OK");
  EXPECT_EQ(answer_of(std::string(1025, '+') + "$OK#9a").error().what, "no packets, but other bytes");
  EXPECT_EQ(answer_of(notices(1024) + "$OK#9a").value_or(""), "OK");
  EXPECT_EQ(answer_of(notices(1025) + "$OK#9a").error().what, "notices without end");
}

std::string packet(const std::string& text) {
  unsigned sum = 0;
  for (const char c : text) sum += static_cast<unsigned char>(c);
  std::array<char, 3> digits{};
  std::snprintf(digits.data(), digits.size(), "%02x", sum & 255);
  return "$" + text + "#" + digits.data();
}

/// A connection whose other end is a script: what it reads is compared, what it answers is given before.
class Dialogue : public testing::Test {
protected:
  Dialogue() {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    connection = std::make_unique<Connection>(ends[0]);
  }
  ~Dialogue() override { ::close(ends[1]); }
  void answer(std::string_view bytes) {
    EXPECT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  std::string sent() {
    std::array<char, 4096> bytes{};
    const auto got = ::recv(ends[1], bytes.data(), bytes.size(), MSG_DONTWAIT);
    return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }
  int ends[2] = {};
  std::unique_ptr<Connection> connection;
};

// E.1: each packet is acknowledged by '+'; here with the next one. 'g' is 0x67, 'm0,4' sums up to 0xfd.
TEST_F(Dialogue, PacketsAreFramedAndAcknowledged) {
  answer("+$01#61");
  EXPECT_EQ(connection->ask("g").value(), "01");
  EXPECT_EQ(sent(), "$g#67");
  answer("+$02#62");
  EXPECT_EQ(connection->ask("m0,4").value(), "02");
  EXPECT_EQ(sent(), "+$m0,4#fd");
  connection->stop_acknowledging();
  answer("$OK#9a$OK#9a");
  EXPECT_EQ(connection->ask("g").value(), "OK");
  EXPECT_EQ(connection->ask("g").value(), "OK");
  EXPECT_EQ(sent(), "+$g#67$g#67");
}

TEST_F(Dialogue, DamagedPacketsAreRepeated) {
  answer("-$O");
  answer("K#99$OK#9a");
  EXPECT_EQ(connection->ask("g").value(), "OK");
  EXPECT_EQ(sent(), "$g#67$g#67-");
  connection->stop_acknowledging();
  answer("$OK#99$OK#9a");
  EXPECT_EQ(connection->ask("g").error().what,
            "a damaged answer"); // there is no repeating without '+' and '-'
}

/// E.2: a program that runs may print (O); the last packet is its end (W, X), for which the emulator waits.
TEST_F(Dialogue, OutputComesBeforeTheAnswer) {
  answer("+" + packet("O41") + packet("O42") + packet("T05thread:01;"));
  EXPECT_EQ(connection->run("c").value(), "T05thread:01;");
  EXPECT_EQ(sent(), "$c#63++");
  answer(packet("O41"));
  EXPECT_EQ(connection->ask("g").value(), "O41"); // an answer like others
  EXPECT_EQ(sent(), "+$g#67");
  answer(packet("W00"));
  EXPECT_EQ(connection->run("c").value(), "W00");
  EXPECT_EQ(sent(), "+$c#63+");
}

TEST_F(Dialogue, EndsWithTheOtherSide) {
  EXPECT_FALSE(connection->is_closed());
  ::shutdown(ends[1], SHUT_RDWR);
  EXPECT_FALSE(connection->ask("g"));
  EXPECT_TRUE(connection->is_closed());
}

TEST_F(Dialogue, AnswersOfAnySize) {
  // 97 more of a character is the most that '*' repeats.
  std::string runs;
  for (int i = 0; i < 20; ++i) runs += "a*~";
  answer("+" + packet(runs) + packet("a*\x1d")); // 29 stands for no more
  EXPECT_EQ(connection->ask("g").value(), std::string(20 * 98, 'a'));
  EXPECT_EQ(connection->ask("g").error().what, "a malformed answer: nothing to repeat");
}

class Layout : public testing::Test {
protected:
  Result<void> read(const std::string& xml) {
    if (auto added = layout.add(xml, files); !added) return added;
    return layout.finish();
  }
  RegisterLayout layout{*find_guest(Abi::s390x), traits(Abi::s390x), *unwind::find_unwind_abi(Abi::s390x)};
  std::vector<std::string> files;
};

TEST_F(Layout, NumbersAndPlaces) {
  ASSERT_TRUE(
      read("<?xml version=\"1.0\"?><!-- <reg name=\"r15\" bitsize=\"8\"/> --><xi:include href=\"more.xml\"/>"
           "<reg name=\"pswm\" bitsize=\"64\" type='x'/>\n<reg name=\"pswa\" bitsize=\"64\"/>"
           "<reg name=\"f2\" bitsize=\"64\" regnum=\"9\"/>"
           "<reg name=\"r15\" bitsize=\"64\" regnum=\"2\"/><reg name=\"r11\" bitsize=\"64\"/>"));
  EXPECT_EQ(files, std::vector<std::string>{"more.xml"});
  const std::string zero(16, '0');
  const auto registers = layout.parse(zero + "0000000000001234" + "00000000000000ff" + "8000000000000000");
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->pc, 0x1234u);
  EXPECT_EQ(registers->get(15), 0xffu);
  EXPECT_EQ(registers->get(11), 0x8000000000000000u);
  EXPECT_FALSE(registers->has(17));
  const auto separate = layout.separate(32);
  ASSERT_EQ(separate.size(), 1u);
  EXPECT_EQ(separate[0].dwarf, 17); // f2
  EXPECT_EQ(separate[0].number, 9u);
  EXPECT_FALSE(layout.parse(zero + "0000000000001234" + "00000000000000ff"));
  EXPECT_FALSE(layout.parse(zero + zero + zero + "xxxxxxxxxxxxxxxx")); // unavailable
  EXPECT_FALSE(layout.parse(""));
}

// The largest register that is passed over has 4096 bytes. Sizes in bits are rounded up to bytes.
TEST_F(Layout, SizesOfRegisters) {
  EXPECT_FALSE(layout.add("<reg name=\"v\" bitsize=\"32776\"/>", files));
  ASSERT_TRUE(read("<reg name=\"v\" bitsize=\"32768\"/><reg name=\"w\" bitsize=\"9\"/>"
                   "<reg name=\"pswa\" bitsize=\"64\"/><reg name=\"r15\" bitsize=\"64\"/>"
                   "<reg name=\"r11\" bitsize=\"64\"/>"));
  const auto registers = layout.parse(std::string((4096 + 2) * 2, '0') + "0000000000000001" +
                                      "0000000000000002" + "0000000000000003");
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->pc, 1u);
  EXPECT_EQ(registers->get(15), 2u);
  EXPECT_EQ(registers->get(11), 3u);
}

// Hostile descriptions end.
TEST_F(Layout, TooMany) {
  constexpr std::size_t most_files = RegisterLayout::most_files,
                        most_registers = RegisterLayout::most_registers;
  std::string many;
  for (std::size_t i = 0; i < most_files; ++i) many += "<xi:include href=\"a.xml\"/>";
  EXPECT_TRUE(layout.add(many, files));
  EXPECT_EQ(files.size(), most_files);
  EXPECT_FALSE(layout.add("<xi:include href=\"a.xml\"/>", files));
  many.clear();
  for (std::size_t i = 0; i < most_registers; ++i) many += "<reg name=\"f2\" bitsize=\"64\"/>";
  EXPECT_TRUE(layout.add(many, files));
  EXPECT_FALSE(layout.add("<reg name=\"pswa\" bitsize=\"64\"/>", files));
}

TEST_F(Layout, Malformed) {
  EXPECT_FALSE(read("<reg name=\"pswa\" bitsize=\"64\"/>"));
  EXPECT_FALSE(read("<reg name=\"r15\"/>"));
  EXPECT_FALSE(read("<reg name=\"r15\" bitsize=\"0\"/>"));
  EXPECT_FALSE(read("<reg name=\"r15\" bitsize=\"99999999999\"/>"));
  EXPECT_FALSE(read("<reg name=\"r15\" bitsize=\"64\" regnum=\"-1\"/>"));
  EXPECT_FALSE(read("<reg name=\"r15"));
}

// Arm Architecture Reference Manual: ldaxr w0,[x2]; cmp w0,w16; b.ne +12; stxr w17,w1,[x2]; cbnz w17,-16; ret
TEST(Guests, SequencesOfAArch64) {
  const std::uint32_t words[] = {0x885ffc40, 0x6b10001f, 0x54000061, 0x88117c41, 0x35ffff91, 0xd65f03c0};
  const auto code = std::as_bytes(std::span(words));
  const auto ends = find_guest(Abi::aarch64_little)->ends_of_sequence;
  EXPECT_EQ(ends(code, 0x1000), (std::vector<std::uint64_t>{0x1014, 0x1010}));
  EXPECT_TRUE(ends(code.subspan(4), 0x1004).empty());
  EXPECT_TRUE(ends(code.first(12), 0x1000).empty()); // no stxr
  const std::uint32_t casp[] = {0x48607c82};         // caspa x0, x1, x2, x3, [x4]
  EXPECT_TRUE(ends(std::as_bytes(std::span(casp)), 0).empty());
}

// The same chapter: casp, which looks like a pair of bytes; ldaxrb; ldaxp and stxp; branches out of the
// sequence by tbz and cbz; a system call, or a call, is in none.
TEST(Guests, ExclusiveSequences) {
  const auto ends = find_guest(Abi::aarch64_little)->ends_of_sequence;
  using Ends = std::set<std::uint64_t>;
  const auto of = [&](std::vector<std::uint32_t> words) {
    const auto found = ends(std::as_bytes(std::span(words)), 0x1000);
    return Ends(found.begin(), found.end());
  };
  constexpr std::uint32_t caspa = 0x48607c82, ldaxrb = 0x085ffc40, ldxr = 0xc85f7c40, ldaxp = 0xc87f8440,
                          stxr = 0x88117c41, stlxr = 0xc803fc40, stxp = 0xc8230440, add = 0x91000400,
                          svc = 0xd4000001, bl = 0x94000002, tbz_16 = 0x36180080, tbnz_back_8 = 0x371fffc0,
                          cbz_12 = 0xb4000060, bne_12 = 0x54000061;
  EXPECT_EQ(of({caspa, stxr}), Ends{});
  EXPECT_EQ(of({ldaxrb, stxr}), Ends{0x1008});
  EXPECT_EQ(of({ldxr, add, stlxr}), Ends{0x100c});
  EXPECT_EQ(of({ldaxp, stxp}), Ends{0x1008});
  EXPECT_EQ(of({stxr, stxr}), Ends{});
  EXPECT_EQ(of({ldxr, tbz_16, stxr}), (Ends{0x1014, 0x100c}));
  EXPECT_EQ(of({ldxr, tbnz_back_8, stxr}), (Ends{0xffc, 0x100c}));
  EXPECT_EQ(of({ldxr, cbz_12, bne_12, stxr}), (Ends{0x1014, 0x1010}));
  EXPECT_EQ(of({ldxr, svc, stxr}), Ends{});
  EXPECT_EQ(of({ldxr, bl, stxr}), Ends{});
  EXPECT_EQ(of({ldxr, add}), Ends{});
  EXPECT_FALSE(find_guest(Abi::amd64)->ends_of_sequence);
}

// Linux: arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h,
// arch/s390/kernel/syscalls/syscall.tbl; syscall(2) for the registers, and the psABIs for their DWARF
// numbers.
TEST(Guests, SystemCalls) {
  const auto numbers = [](Abi abi) {
    const Guest& guest = *find_guest(abi);
    return std::vector<int>{guest.rt_sigaction, guest.clone,  guest.clone3,  guest.fork,
                            guest.vfork,        guest.execve, guest.execveat};
  };
  using Numbers = std::vector<int>;
  EXPECT_EQ(numbers(Abi::amd64), (Numbers{13, 56, 435, 57, 58, 59, 322}));
  EXPECT_EQ(numbers(Abi::aarch64_little), (Numbers{134, 220, 435, -1, -1, 221, 281}));
  EXPECT_EQ(numbers(Abi::aarch64_big), numbers(Abi::aarch64_little));
  EXPECT_EQ(numbers(Abi::s390x), (Numbers{174, 120, 435, 2, 190, 11, 354}));
  const auto registers = [](Abi abi) {
    const Guest& guest = *find_guest(abi);
    return Numbers{guest.arguments[0], guest.arguments[1], guest.clone_flags, guest.result};
  };
  EXPECT_EQ(registers(Abi::amd64), (Numbers{5, 4, 5, 0})); // rdi, rsi; clone(flags, stack ...); rax
  EXPECT_EQ(registers(Abi::aarch64_little), (Numbers{0, 1, 0, 0}));
  EXPECT_EQ(registers(Abi::s390x), (Numbers{2, 3, 3, 2})); // clone(stack, flags ...)
  EXPECT_EQ(find_guest(Abi::aarch64_big)->emulator, "qemu-aarch64_be");
}

} // namespace process_emulated_test
