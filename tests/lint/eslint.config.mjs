// SPDX-License-Identifier: MIT
// Rules for the modules of the pages.
const browser = ["document", "window", "location", "history", "matchMedia", "getComputedStyle", "requestAnimationFrame", "cancelAnimationFrame",
  "setTimeout", "clearTimeout", "performance", "fetch", "innerWidth", "innerHeight", "ResizeObserver", "URLSearchParams"];
export default [{
  files: ["cmd/page/*.js"],
  linterOptions: { reportUnusedDisableDirectives: "error" },
  languageOptions: { ecmaVersion: 2021, sourceType: "module", globals: Object.fromEntries(browser.map((name) => [name, "readonly"])) },
  rules: {
    "no-undef": "error", "no-unused-vars": ["error", { argsIgnorePattern: "^_" }], "no-redeclare": "error", "no-const-assign": "error", "no-import-assign": "error",
    "no-dupe-keys": "error", "no-dupe-else-if": "error", "no-duplicate-imports": "error", "no-self-assign": "error", "no-self-compare": "error",
    "no-unreachable": "error", "no-unreachable-loop": "error", "no-unused-expressions": "error", "no-useless-return": "error", "no-useless-escape": "error",
    "no-loss-of-precision": "error", "no-fallthrough": "error", "no-sparse-arrays": "error", "no-unsafe-finally": "error", "no-unsafe-negation": "error",
    "no-unsafe-optional-chaining": "error", "no-template-curly-in-string": "error", "no-constant-condition": "error", "no-empty": "error", "no-eval": "error",
    "no-implied-eval": "error", "no-implicit-globals": "error", "no-var": "error", "prefer-const": ["error", { destructuring: "all" }], "eqeqeq": "error",
    "use-isnan": "error", "valid-typeof": "error", "array-callback-return": "error", "getter-return": "error", "default-case-last": "error", "no-throw-literal": "error",
  },
}];
