// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What goes into a page as text and as data cannot become markup: expectations are from the HTML and XML
// standards.

#include <sframe/page/page.h>

#include <gtest/gtest.h>

#include <string>

namespace page_page_test {

using namespace sframe::page;

TEST(Page, ScriptDataHasNoMarkup) {
  EXPECT_EQ(script_json(R"({"a": "</script><!--&]]>"})"),
            R"({"a": "\u003c/script\u003e\u003c!--\u0026]]\u003e"})");
}

TEST(Page, TextIsEscaped) {
  EXPECT_EQ(markup_text("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
}

TEST(Page, TextIsAsciiWithoutControls) {
  EXPECT_EQ(markup_text("\xc3\xa9"), "&#233;");                             // U+00E9
  EXPECT_EQ(markup_text("\xf0\x9f\x98\x80"), "&#128512;");                  // U+1F600
  EXPECT_EQ(markup_text("\xef\xbf\xbe|\xef\xbf\xbf"), "&#65533;|&#65533;"); // XML has no U+FFFE, U+FFFF
  EXPECT_EQ(markup_text("\x1b[1m\xff"), "\\x1b[1m\\xff");
  EXPECT_EQ(markup_text("\xe2\x80\xae"), "\\xe2\\x80\\xae"); // U+202E turns text around
}

/// A title that looks like a placeholder of the template stays as it is.
TEST(Page, TitlesAreNoTemplates) {
  const std::string start = page_start("program", "{{data}}</title>{{script}}");
  EXPECT_NE(start.find("<title>program: {{data}}&lt;/title&gt;{{script}}</title>"), std::string::npos);
  EXPECT_TRUE(start.ends_with("id=\"data\">"));
}

// The document is complete, and each name of the template has its value.
TEST(Page, StartOfTheDocument) {
  const std::string start = page_start("a<b", "title");
  EXPECT_TRUE(start.starts_with("<!DOCTYPE html>\n<html lang="));
  const std::size_t version = start.find("content=\"a&lt;b ") + 16;
  EXPECT_GT(start.find_first_not_of("0123456789.", version), version);
  EXPECT_EQ(start.find("\">", version), start.find_first_not_of("0123456789.", version));
  EXPECT_NE(start.find("<title>a&lt;b: title</title>"), std::string::npos);
  EXPECT_NE(start.find("<p class=\"program\">a&lt;b " +
                       start.substr(version, start.find('"', version) - version) + "</p><h1>title</h1>"),
            std::string::npos);
  EXPECT_EQ(start.find("{{"), std::string::npos);
}

TEST(Page, EachKindHasItsScript) {
  for (const Kind kind : {Kind::dump, Kind::verify, Kind::unwind}) {
    const std::string end = page_end(kind);
    EXPECT_TRUE(end.starts_with("</script>"));
    EXPECT_TRUE(end.ends_with("</html>\n"));
    EXPECT_NE(end.find("class Grid"), std::string::npos);
    EXPECT_EQ(end.find("{{"), std::string::npos);
  }
  EXPECT_NE(page_end(Kind::dump), page_end(Kind::verify));
}

/// In XML, so that the only characters with a meaning are escaped.
TEST(Page, FlameGraphScriptIsXmlText) {
  const std::string script = flame_graph_script();
  EXPECT_EQ(script.find_first_of("<>"), std::string::npos);
  EXPECT_NE(script.find("=&gt;"), std::string::npos);
}

} // namespace page_page_test
