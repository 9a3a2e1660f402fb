"""Those who appear in the story: a producer in every language, a worker, a sleeper. Each comes back by itself."""
