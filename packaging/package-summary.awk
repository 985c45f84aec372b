# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# awk -f package-summary.awk -v name=PACKAGE -v root=DIRECTORY REPORT: what sframe-gen did to a package, in one line.
# REPORT is its report on a tree (docs/json.md): a line of JSON for each file, and one for all. A second line names the
# files of which least code is covered, if that is less than 90 %: whoever builds the package looks there first.

# The text of a member of an object, from its value on.
function member(text, key,    at) {
  at = index(text, "\"" key "\": ")
  return at ? substr(text, at + length(key) + 4) : ""
}
function number(text, key) { return member(text, key) + 0 }

function with_commas(count,    text) {
  text = sprintf("%.0f", count)
  while (match(text, /[0-9][0-9][0-9][0-9]+/)) {
    text = substr(text, 1, RSTART + RLENGTH - 4) "," substr(text, RSTART + RLENGTH - 3)
  }
  return text
}

# Rounded down: 100 % is all of it.
function percent(part, whole) { return sprintf("%.1f %%", int(part * 1000 / whole) / 10) }

/^\{"input": / {
  bytes = member($0, "executable_bytes")
  total = number(bytes, "total")
  if (total == 0 || $0 !~ /", "status": "(converted|up_to_date|skipped|refused|failed)"/) next
  share = number(bytes, "covered") / total
  if (share >= 0.9) next
  file = substr($0, length("{\"input\": \"") + 1)
  file = substr(file, 1, index(file, "\", \"status\": \"") - 1)
  if (index(file, root "/") == 1) file = substr(file, length(root) + 2)
  # The three of which least is covered, in order.
  if (num_least < 3) ++num_least
  else if (share >= shares[3]) next
  for (i = num_least; i > 1 && shares[i - 1] > share; --i) {
    shares[i] = shares[i - 1]
    least[i] = least[i - 1]
  }
  shares[i] = share
  least[i] = file " " percent(number(bytes, "covered"), total)
}

/^\{"summary": / {
  files = member($0, "files")
  done = number(files, "converted") + number(files, "up_to_date")
  line = done " of " (number(files, "total") - number(files, "same")) " files"
  sizes = member($0, "file_bytes")
  before = number(sizes, "input")
  grown = number(sizes, "output") - before
  if (number(files, "converted")) line = line ", " (grown < 0 ? "-" with_commas(-grown) : "+" with_commas(grown)) \
    sprintf(" bytes (%+.1f %%)", grown * 100 / before)
  else if (done) line = line ", up to date"
  bytes = member($0, "executable_bytes")
  if (number(bytes, "total")) line = line ", " percent(number(bytes, "covered"), number(bytes, "total")) " of the code covered"
  print name ": " line
}

END {
  for (i = 1; i <= num_least; ++i) all = all (i > 1 ? ", " : "") least[i]
  if (num_least) print name ": least covered: " all
}
