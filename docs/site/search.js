/*
 * The search of the documentation site. It takes the place of the theme's worker and speaks its messages:
 *
 *     0  set up with the index {docs: {sections, aliases}}    ->  1  ready
 *     2  a query, as text                                     ->  3  {items: pages, the best first}
 *
 * A section is [location, title, text, weight]. The section of a page's top has a location without "#", and comes before
 * the page's other sections. docs/site/search.py makes the index.
 *
 * Score of a section: for each word of the query, its rarity times the weight of the best place where the section has the
 * word. A word of the title counts most, a longer word that begins with the query's word counts less. A section that has
 * only some of the words counts much less; one that has the query as typed counts more.
 */
"use strict";
(function () {
  const TITLE = 12, TOP = 1.25, PAGE_TITLE = 3, LONGER = 0.4, IN_TITLE = 1.6, IN_TEXT = 1.3, WHOLE = 3;
  const SMALL = new Set(["a", "and", "are", "by", "for", "has", "in", "is", "of", "on", "or", "the", "to", "what", "with"]);
  const PAGES_MAX = 20, SECTIONS_MAX = 6, TEASER = 300, TEASER_BEFORE = 60;
  const ENDINGS = /(?:ies|ing|ed|es|s|e)$/;
  let sections = [], pages = [], postings = new Map(), vocabulary = [];

  /* The word without its ending: "expired" and "expires" are one word. */
  function stem(word) {
    const short = word.replace(ENDINGS, "");
    return short.length >= 3 && !/[^a-z]/.test(word) ? short : word;
  }

  /* The words of a text, in order; of "spark.executor.memory" and "on-missed" also the parts. */
  function words(text) {
    const found = [];
    for (const [whole] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+(?:[._\-\/][\p{L}\p{N}]+)*/gu)) {
      const parts = whole.split(/[._\-\/]/);
      if (parts.length > 1) found.push(whole);
      found.push(...parts.map(stem));
    }
    return found;
  }

  /* Count a word of a section, with the weight of its place; the best place counts. */
  function add(word, place, weight) {
    let found = postings.get(word);
    if (found === undefined) postings.set(word, found = new Map());
    if (weight > (found.get(place) || 0)) found.set(place, weight);
  }

  function addText(text, place, weight, aliases) {
    const counts = new Map();
    for (const word of words(text)) counts.set(word, (counts.get(word) || 0) + 1);
    for (const [word, count] of counts) add(word, place, weight * (1 + 0.3 * Math.log2(count)));
    const plain = text.toLowerCase();
    for (const [alias, phrase] of aliases) if (plain.includes(phrase)) add(stem(alias), place, weight);
  }

  function setUp(docs) {
    const aliases = Object.entries(docs.aliases);
    sections = docs.sections;
    let page = 0;
    sections.forEach(([location, title, text], place) => {
      if (!location.includes("#")) page = place;
      pages.push(page);
      const length = words(title).filter(word => !SMALL.has(word)).length || 1;
      addText(title, place, TITLE * (page === place ? TOP : 1) / Math.sqrt(length), aliases);
      if (page !== place) addText(sections[page][1], place, PAGE_TITLE, aliases);
      addText(text, place, 1, aliases);
    });
    vocabulary = [...postings.keys()].sort();
  }

  /* All words of the index that begin with this one; the vocabulary is sorted. */
  function beginningWith(word) {
    let low = 0, high = vocabulary.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (vocabulary[middle] < word) low = middle + 1; else high = middle;
    }
    const found = [];
    while (low < vocabulary.length && vocabulary[low].startsWith(word)) found.push(vocabulary[low++]);
    return found;
  }

  /* Add the score of one word of the query to the sections that have it. */
  function scoreWord(word, scores) {
    const best = new Map();
    for (const longer of word.length >= 2 ? beginningWith(word) : [word])
      for (const [place, weight] of postings.get(longer) || []) {
        const counted = weight * (longer === word ? 1 : LONGER);
        if (counted > (best.get(place) || 0)) best.set(place, counted);
      }
    const rarity = Math.log(1 + sections.length / (1 + best.size));
    for (const [place, weight] of best) {
      const so = scores.get(place) || { score: 0, words: new Set() };
      so.score += rarity * weight;
      so.words.add(word);
      scores.set(place, so);
    }
  }

  const escape = text => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  /* The text as HTML, with marks around the words that begin like a word of the query. */
  function marked(text, query) {
    const beginnings = [...query.keys()];
    return text.split(/([\p{L}\p{N}]+)/u).map(part => beginnings.some(word => stem(part.toLowerCase()).startsWith(word)) ?
      "<mark data-md-highlight>" + escape(part) + "</mark>" : escape(part)).join("");
  }

  /* The part of a text around the first word of the query. */
  function teaser(text, query) {
    const plain = text.toLowerCase();
    const first = Math.min(...[...query.keys()].map(word => plain.indexOf(word)).filter(at => at >= 0), text.length);
    if (first === text.length || first < TEASER - TEASER_BEFORE) return text.slice(0, TEASER);
    return "… " + text.slice(text.indexOf(" ", first - TEASER_BEFORE) + 1).slice(0, TEASER);
  }

  function shown(place, found, query) {
    const [location, title, text] = sections[place];
    return {
      location, title: marked(title, query), text: marked(teaser(text, query), query), score: found ? found.score : 0,
      terms: Object.fromEntries([...query].map(([word, typed]) => [typed, !found || found.words.has(word)])),
    };
  }

  function search(text) {
    const query = new Map(text.toLowerCase().match(/[\p{L}\p{N}]+/gu)?.map(typed => [stem(typed), typed])), scores = new Map();
    for (const word of query.keys()) scoreWord(word, scores);
    const phrase = text.toLowerCase().trim(), wholes = words(text).filter(word => /[._\-\/]/.test(word)), byPage = new Map();
    for (const [place, found] of scores) {
      const [, title, body, weight] = sections[place];
      found.score *= weight * (found.words.size / query.size) ** 3;
      if (title.toLowerCase().includes(phrase)) found.score *= IN_TITLE;
      else if (query.size > 1 && body.toLowerCase().includes(phrase)) found.score *= IN_TEXT;
      if (wholes.some(word => postings.get(word)?.has(place))) found.score *= WHOLE;
      byPage.set(pages[place], [...byPage.get(pages[place]) || [], place]);
    }
    const items = [...byPage].map(([page, places]) => {
      places.sort((a, b) => scores.get(b).score - scores.get(a).score || a - b);
      const kept = places.slice(0, SECTIONS_MAX);
      if (!kept.includes(page)) kept.push(page);
      return kept.map(place => shown(place, scores.get(place), query));
    });
    return { items: items.sort((a, b) => b[0].score - a[0].score).slice(0, PAGES_MAX) };
  }

  /* The replies to a message. A query that comes before the index waits for it. */
  let waiting = null;
  self.provisorSearch = message => {
    if (message.type === 0) {
      setUp(message.data.docs);
      return [{ type: 1 }, ...waiting === null ? [] : [{ type: 3, data: search(waiting) }]];
    }
    waiting = message.data;
    return sections.length > 0 ? [{ type: 3, data: search(message.data) }] : [];
  };
  /* In the pages that are files, docs/site/offline.py calls the function; there is no worker. */
  if (typeof document === "undefined")
    addEventListener("message", event => self.provisorSearch(event.data).forEach(reply => postMessage(reply)));
})();
