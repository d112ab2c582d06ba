/*
 * The search of the documentation site. It takes the place of the theme's worker and speaks its messages:
 *
 *     0  set up              ->  1  ready
 *     2  a query, as text    ->  1  ready, 3  {items: pages, the best first}
 *
 * The theme sends the next message only when one has a reply, and of those that wait it sends the last: a query that is
 * typed early takes the place of message 0. So the index does not come with a message: the worker fetches it, and every
 * reply waits for it and says "ready".
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
  const WORDS = /[a-z0-9\u00aa-\uffff]+(?:[._\-\/][a-z0-9\u00aa-\uffff]+)*/g, SEPARATOR = /[._\-\/]/;
  const stems = new Map();
  let sections = [], pages = [], postings = new Map(), vocabulary = [];

  /* The word without its ending: "expired" and "expires" are one word. */
  function stem(word) {
    let short = stems.get(word);
    if (short === undefined) {
      short = word.replace(ENDINGS, "");
      if (short.length < 3 || /[^a-z]/.test(word)) short = word;
      stems.set(word, short);
    }
    return short;
  }

  /* The words of a text in small letters, in order; of "spark.executor.memory" and "on-missed" also the parts. */
  function words(text) {
    const found = [];
    for (const whole of text.match(WORDS) || []) {
      if (!SEPARATOR.test(whole)) {
        found.push(stem(whole));
        continue;
      }
      found.push(whole);
      for (const part of whole.split(SEPARATOR)) found.push(stem(part));
    }
    return found;
  }

  /* Add the words of a text to those of its section, with the weight of the best place of each. */
  function addText(text, weight, found, aliases) {
    const plain = text.toLowerCase(), counts = new Map();
    for (const word of words(plain)) counts.set(word, (counts.get(word) || 0) + 1);
    for (const [alias, phrase] of aliases) if (plain.includes(phrase)) counts.set(stem(alias), 1);
    for (const [word, count] of counts) {
      const here = count === 1 ? weight : weight * (1 + 0.3 * Math.log2(count));
      if (!(found.get(word) >= here)) found.set(word, here);
    }
  }

  /* postings: for each word the places and weights of its sections, one after the other. */
  function setUp(docs) {
    const aliases = Object.entries(docs.aliases);
    sections = docs.sections;
    let page = 0;
    sections.forEach(([location, title, text], place) => {
      if (!location.includes("#")) page = place;
      pages.push(page);
      const found = new Map(), length = words(title.toLowerCase()).filter(word => !SMALL.has(word)).length || 1;
      addText(text, 1, found, aliases);
      if (page !== place) addText(sections[page][1], PAGE_TITLE, found, aliases);
      addText(title, TITLE * (page === place ? TOP : 1) / Math.sqrt(length), found, aliases);
      for (const [word, weight] of found) {
        const list = postings.get(word);
        if (list === undefined) postings.set(word, [place, weight]); else list.push(place, weight);
      }
    });
    vocabulary = [...postings.keys()].sort();
  }

  const has = (word, place) => (postings.get(word) || []).some((value, at) => at % 2 === 0 && value === place);

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
      for (let list = postings.get(longer) || [], at = 0; at < list.length; at += 2) {
        const counted = list[at + 1] * (longer === word ? 1 : LONGER);
        if (counted > (best.get(list[at]) || 0)) best.set(list[at], counted);
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
    const phrase = text.toLowerCase().trim(), wholes = words(phrase).filter(word => SEPARATOR.test(word)), byPage = new Map();
    for (const [place, found] of scores) {
      const [, title, body, weight] = sections[place];
      found.score *= weight * (found.words.size / query.size) ** 3;
      if (title.toLowerCase().includes(phrase)) found.score *= IN_TITLE;
      else if (query.size > 1 && body.toLowerCase().includes(phrase)) found.score *= IN_TEXT;
      if (wholes.some(word => has(word, place))) found.score *= WHOLE;
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

  /* In the pages that are files, docs/site/offline.py gives the index and calls the function; there is no worker. */
  const inPage = typeof document !== "undefined";
  const ready = (inPage ? Promise.resolve(self.provisorIndex) : fetch("../../../search/search_index.json").then(reply => reply.json()))
    .then(index => setUp(index.docs));
  self.provisorSearch = message =>
    ready.then(() => [{ type: 1 }, ...message.type === 2 ? [{ type: 3, data: search(message.data) }] : []]);
  if (!inPage) addEventListener("message", event => self.provisorSearch(event.data).then(replies => replies.forEach(reply => postMessage(reply))));
})();
