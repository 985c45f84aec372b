// An exception that nobody catches: an order for an article that is not in stock.
#include <map>
#include <string>
#include <vector>

struct Order {
  std::string article;
  int count;
};

class Stock {
public:
  void take(const Order& order) { counts_.at(order.article) -= order.count; }

private:
  std::map<std::string, int> counts_ = {{"apple", 3}, {"pear", 5}};
};

template <typename Range> [[gnu::noinline]] void process(Stock& stock, const Range& orders) {
  for (const auto& order : orders) stock.take(order);
}

int main() {
  Stock stock;
  process(stock, std::vector<Order>{{"apple", 1}, {"plum", 2}});
}
