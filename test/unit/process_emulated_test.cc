// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packets of gdb's remote protocol, and where they have registers.

#include "emulated/connection.h"
#include "emulated/registers.h"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace {

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

} // namespace
