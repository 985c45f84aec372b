// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A packet is $TEXT#SUM, with the sum of the bytes in two hexadecimal digits; the other side answers + (or -,
// to have it again) until both agree to leave that out. In an answer, } changes the byte after it, and *
// repeats the byte before it:
//
//   $m4000,8#95     read 8 bytes at 0x4000
//   $0*,#86         sixteen zeros: '0', and ',' (44) - 29 = 15 more
//
// Everything is limited: the size of an answer, the time until it comes (except for the end of a step),
// damaged packets, and bytes that belong to no packet.

#include "emulated/connection.h"

#include "sframe/base/retry.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace sframe::process::emulated {

namespace {

constexpr unsigned most_repeats = 3; ///< of a damaged packet
constexpr unsigned most_stray =
    1024; ///< acknowledgements and other bytes before an answer, and packets that are none

/// -1 if it is none.
int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string framed(std::string_view packet) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::uint8_t sum = 0;
  for (const char c : packet) sum = static_cast<std::uint8_t>(sum + static_cast<std::uint8_t>(c));
  std::string text = "$";
  text += packet;
  text += '#';
  text += digits[sum >> 4];
  text += digits[sum & 15];
  return text;
}

} // namespace

Result<std::string> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return fail("an odd number of hexadecimal digits");
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit(digits[i]), low = digit(digits[i + 1]);
    if (high < 0 || low < 0) return fail("hexadecimal digits expected");
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

Connection::Connection(int fd) : fd_(fd) {
  // So that the time can be looked at.
  const timeval wait{.tv_sec = 1, .tv_usec = 0};
  (void)::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
}

Connection::~Connection() {
  ::close(fd_);
}

Result<void> Connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = retry([&] { return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); });
    if (sent < 0) {
      closed_ = errno == EPIPE || errno == ECONNRESET;
      return fail(std::string("cannot send: ") + std::strerror(errno));
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

/// The next byte. Not patient: until the deadline.
Result<char> Connection::next(bool patient) {
  while (begin_ == end_) {
    if (!patient && Clock::now() > deadline_) return fail("no answer in time");
    const auto got = retry([&] { return ::recv(fd_, buffer_.data(), buffer_.size(), 0); });
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) continue;
    if (got <= 0) {
      closed_ = true;
      return fail("the connection was closed");
    }
    begin_ = 0;
    end_ = static_cast<std::size_t>(got);
  }
  return buffer_[begin_++];
}

/// Repeats the last character: the count is 29 less than the character after '*'.
Result<void> Connection::expand(std::string& packet, char count) const {
  const int times = static_cast<unsigned char>(count) - 29;
  if (packet.empty() || times < 1 || times > 97) return fail("a malformed answer: nothing to repeat");
  packet.append(static_cast<std::size_t>(times), packet.back());
  return {};
}

/// After the '$'. `intact`: the sum of its bytes is right.
Result<std::string> Connection::read_packet(bool& intact) {
  std::string packet;
  std::uint8_t sum = 0;
  for (;;) {
    const auto c = next(false);
    if (!c) return unexpected(c.error());
    if (*c == '#') break;
    sum = static_cast<std::uint8_t>(sum + static_cast<std::uint8_t>(*c));
    if (*c == '}' || *c == '*') {
      const auto second = next(false);
      if (!second) return unexpected(second.error());
      sum = static_cast<std::uint8_t>(sum + static_cast<std::uint8_t>(*second));
      if (*c == '}')
        packet += static_cast<char>(*second ^ 0x20);
      else if (auto expanded = expand(packet, *second); !expanded)
        return unexpected(expanded.error());
    } else {
      packet += *c;
    }
    if (packet.size() > largest_answer) return fail("an answer that is too long");
  }
  int found = 0;
  for (int i = 0; i < 2; ++i) {
    const auto c = next(false);
    if (!c) return unexpected(c.error());
    const int value = digit(*c);
    if (value < 0) return fail("a malformed answer: no sum of its bytes");
    found = found * 16 + value;
  }
  intact = found == sum;
  return packet;
}

Result<std::string> Connection::receive(std::string_view sent, bool patient) {
  const auto restart = [&] { deadline_ = Clock::now() + longest_wait; };
  unsigned stray = 0, repeats = 0;
  restart();
  for (;;) {
    const auto c = next(patient);
    if (!c) return unexpected(c.error());
    if (patient) restart();
    if (*c == '-' && repeats++ < most_repeats) {
      if (const auto again = send(sent); !again) return unexpected(again.error());
      continue;
    }
    const bool is_packet = *c == '$', is_notice = *c == '%';
    if (!is_packet && !is_notice) {
      if (++stray > most_stray) return fail("no packets, but other bytes");
      continue;
    }
    bool intact = false;
    auto packet = read_packet(intact);
    if (!packet) return packet;
    if (is_notice) {
      if (++stray > most_stray) return fail("notices without end");
      continue;
    }
    if (!intact && !acknowledges_) return fail("a damaged answer");
    if (!intact) {
      if (repeats++ == most_repeats) return fail("damaged answers");
      if (const auto again = send("-"); !again) return unexpected(again.error());
      continue;
    }
    // The end of the program waits for it; everything else until the next packet.
    const bool is_output = patient && packet->starts_with('O');
    const bool is_end = patient && (packet->starts_with('W') || packet->starts_with('X'));
    owes_ = acknowledges_ && !is_output && !is_end;
    if (acknowledges_ && !owes_) (void)send("+"); // a closed connection shows itself
    if (!is_output) return packet;
    if (++stray > most_stray) return fail("output without end");
  }
}

Result<std::string> Connection::exchange(std::string_view packet, bool patient) {
  const std::string frame = framed(packet);
  const std::string all = owes_ ? "+" + frame : frame;
  owes_ = false;
  if (const auto sent = send(all); !sent) return unexpected(sent.error());
  return receive(frame, patient);
}

} // namespace sframe::process::emulated
