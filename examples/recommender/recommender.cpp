// A recommender (Koren, Bell & Volinsky, "Matrix factorization techniques", 2009): what a user thinks
// of an item is a mean, plus what the user and the item are like, plus the product of a row of one
// table and a row of another. A step reads few rows of these tables, so their gradients are
// row-sparse and SparseAdam changes those rows alone. The ratings are drawn by such a model with
// noise of 0.5, below which no error can come.
//
//   recommender [--small]
#include <chrono>
#include <cstdio>
#include <cstring>
#include <tenon/data/datasets.hpp>
#include <tenon/tenon.hpp>
namespace tn = tenon;
using tn::Tensor;

struct Factors : tn::Module {
  tn::Object users, items, user_bias, item_bias;
  Tensor mean;

  Factors(int64_t n_users, int64_t n_items, int64_t width, double mean_rating) {
    const auto table = [&](const char* name, int64_t rows, int64_t columns) {
      auto made = child(name, tn::nn::Embedding(rows, columns, {.sparse = true}));
      tn::nn::init::normal_(made.tensor("weight"), 0, columns == 1 ? 0 : 0.1);
      return made;
    };
    users = table("users", n_users, width);
    items = table("items", n_items, width);
    user_bias = table("user_bias", n_users, 1);
    item_bias = table("item_bias", n_items, 1);
    mean = buffer("mean", tn::tensor(mean_rating));
  }
  Tensor forward(Tensor user, Tensor item) {
    return mean + (user_bias(user) + item_bias(item)).squeeze(-1) +
           (users(user) * items(item)).sum(-1);
  }
};

// Who rated what, and how: [n] each. Popular items are rated more often.
struct Ratings {
  Tensor user, item, rating;
};
Ratings draw(int64_t n, int64_t n_users, int64_t n_items) {
  const int64_t width = 4;
  const Tensor p = tn::randn({n_users, width}), q = tn::randn({n_items, width}) / 2;
  const Tensor user_bias = 0.3 * tn::randn({n_users}), item_bias = 0.5 * tn::randn({n_items});
  const Tensor user = tn::randint(n_users, {n});
  const Tensor item = (tn::rand({n}).square() * n_items).to(tn::int64);
  const Tensor product = (p.index_select(0, user) * q.index_select(0, item)).sum(1);
  const Tensor rating = 3.5 + user_bias.index_select(0, user) + item_bias.index_select(0, item) +
                        product + 0.5 * tn::randn({n});
  return {user, item, rating};
}

int main(int argc, char** argv) {
  tn::load_plugins();
  tn::manual_seed(0);
  const bool small = argc > 1 && std::strcmp(argv[1], "--small") == 0;
  const int64_t n_users = small ? 500 : 100000, n_items = small ? 300 : 20000;
  const int64_t n = n_users * (small ? 80 : 40), n_test = n / 20;
  const Ratings all = draw(n, n_users, n_items);
  const auto part = [&](const Tensor& x, bool test) {
    return test ? x.slice(0, 0, n_test) : x.slice(0, n_test);
  };
  auto model =
      tn::make<Factors>(n_users, n_items, 8, part(all.rating, false).mean().item<double>());
  auto optimizer = tn::optim::SparseAdam(model.parameters(), {.lr = small ? 0.02 : 0.005});

  const auto test_error = [&] {
    const tn::NoGrad off;
    const Tensor found = model(part(all.user, true), part(all.item, true));
    return tn::mse_loss(found, part(all.rating, true)).sqrt().item<double>();
  };
  tn::data::DataLoader batches(tn::data::TensorDataset(part(all.user, false), part(all.item, false),
                                                       part(all.rating, false)),
                               {.batch_size = small ? 512 : 4096, .shuffle = true});
  std::printf("rmse_before %.3f\n", test_error());
  const auto start = std::chrono::steady_clock::now();
  int64_t steps = 0;
  for (int epoch = 1; epoch <= (small ? 5 : 8); ++epoch) {
    for (const auto& [user, item, rating] : batches) {
      const Tensor loss = tn::mse_loss(model(user, item), rating);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      ++steps;
    }
    std::printf("epoch %d: rmse %.3f\n", epoch, test_error());
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  std::printf("%lld steps of %.2f ms\n", static_cast<long long>(steps),
              1e3 * taken.count() / double(steps));
  std::printf("rmse_after %.3f\n", test_error());
}
