#!/usr/bin/env python3
"""Trains the small tokenizers of this folder with the package `tokenizers` and writes them, with what it makes of lines of text.

    python3 tests/data/tokenizers/make.py                     # needs tokenizers; writes NAME.json and lines.json beside this script
    python3 tests/data/tokenizers/make.py --lines 10000 DIR   # the same tokenizers, and more lines, into another folder

tokenizers_test reads them: `TENON_TOKENIZERS_DATA=DIR tokenizers_test` those of another folder. Texts are the repository's pages and
lines that are generated here.
"""
import json
import pathlib
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
DOCS = HERE.parent.parent.parent / "docs"

# Words of many scripts, written for this file.
WORDS = """the of and to in is that it for was on are as with his they at be this from have or by one had not but what all were when we
there can an your which their said if do will each about how up out them then she many some so these would other into has more her two
like him see time could no make than first been its who now people my made over did down only way find use may water long little very
after words called just where most know Straße Größe Äpfel über naïve façade coöperate élève garçon niño mañana São João český žluťoučký
kůň łódź żółć İstanbul ığdır Ωμέγα ἄνθρωπος λόγος κόσμος мир труд город ёлка йод Київ ґанок שלום עולם مرحبا العالم سلام नमस्ते दुनिया हिन्दी
வணக்கம் สวัสดี ชาวโลก 你好 世界 中文 漢字 日本語 ひらがな カタカナ ｶﾀｶﾅ 한국어 안녕하세요 세계 tiếng Việt ngữ""".split()
SIGNS = list(".,;:!?'\"()[]{}<>-_/\\|@#$%^&*+=~`") + ["...", "--", "«", "»", "“", "”", "‘", "’", "…", "—", "–", "¿", "¡", "。", "、", "「", "」",
                                                     "§", "¶", "†", "·", "،", "؟", "।", "€", "£", "¥", "±", "×", "√", "∑", "→", "⇒", "■"]
EMOJI = ["😀", "🎉", "👍🏽", "👩‍👩‍👧", "🇩🇪", "❤️", "1️⃣", "🧑🏿‍🚀", "☃", "🏳️‍🌈"]
ODD = ["\t", "\n", "\r\n", "\r", "\x00", "\x01", "\x1b[0m", "\x7f", "\x85", "\xa0", "\xad", "\u2003", "\u200b", "\u200d", "\u2028", "\u3000", "\ufeff",
       "\ufffd", "e\u0301", "a\u0308\u0323", "\u0301", "n\u0303", "ﬁ", "Å", "①", "ⅷ", "½", "x²", "ſ", "ǅ", "ﷺ", "각", "𝒳", "𠀀", "\ue000", "\U0001f600",
       "\U0010ffff", "▁", "▁▁", "Ġ", "##", "<0x41>", "<unk>", "[MASK]", "[UNK]", "<s>", "</s>", "<|end|>", " <mask> ", "<mask>", "New York", "don't",
       "I'LL", "we've", "it's", "'s", "'S", "you're", " do not", " n't"]


def word(rng):
    kind = rng.random()
    if kind < 0.6:
        text = rng.choice(WORDS)
        return text if rng.random() < 0.8 else text.upper() if rng.random() < 0.5 else text.title()
    if kind < 0.7:
        return str(rng.randrange(10 ** rng.randrange(1, 9)))
    if kind < 0.8:
        return rng.choice(SIGNS) * rng.randrange(1, 4)
    if kind < 0.85:
        return rng.choice(EMOJI)
    if kind < 0.95:
        return rng.choice(ODD)
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyzäöüß0123456789") for _ in range(rng.randrange(1, 14)))


def any_character(rng):
    while True:
        code = rng.choice([rng.randrange(0x80), rng.randrange(0x3000), rng.randrange(0x30000), rng.randrange(0x110000)])
        # What Unicode has given no character is of no class here, and may be of one in the package.
        if not 0xD800 <= code < 0xE000 and is_old(chr(code)):
            return chr(code)


def is_old(character):
    """Was there in Unicode 3.2, of which all tables agree."""
    import unicodedata
    return unicodedata.ucd_3_2_0.category(character) != "Cn"


def line(rng, pages):
    kind = rng.random()
    if kind < 0.25:
        text = rng.choice(pages)
        begin = rng.randrange(len(text))
        return text[begin:begin + rng.randrange(1, 60)]
    if kind < 0.35:
        return "".join(any_character(rng) for _ in range(rng.randrange(1, 10)))
    if kind < 0.40:
        return rng.choice([" ", "\n", "a", "ab", "!", "▁", "é", "\t ", "0", "é́"]) * rng.randrange(1, 20)
    out = ""
    for _ in range(rng.randrange(1, 9)):
        out += word(rng) + rng.choice(["", " ", " ", " ", " ", " ", "  ", "   ", "\n"])
    return out


def lines(n, pages, seed):
    rng = random.Random(seed)
    return ["", " ", "  ", "\n"] + [line(rng, pages) for _ in range(n - 4)]


def added(content, **options):
    return AddedToken(content, **options)


def byte_level(corpus):
    """As GPT-2's, with tokens that are added in all ways."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=600, special_tokens=["<|end|>"], show_progress=False,
                                                              initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.add_special_tokens([added("<mask>", lstrip=True)])
    tokenizer.add_tokens([added("New York", normalized=False), added("York", single_word=True), added("ab", rstrip=True, single_word=True)])
    return tokenizer


def split_byte_level(corpus):
    """As Llama 3's and Qwen's: a regular expression cuts, and whole words are tokens."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.normalizer = normalizers.NFC()
    expression = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(expression), "isolated"),
                                                       pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=600, special_tokens=["<s>", "</s>"], show_progress=False,
                                                              initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B:1", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))])])
    return tokenizer


def llama(corpus):
    """As Llama's: blanks are characters of words, and what is unknown is bytes."""
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")  # to train; then whole texts go to the model
    tokenizer.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=560, special_tokens=special, limit_alphabet=90, show_progress=False))
    data = json.loads(tokenizer.to_str())
    data["pre_tokenizer"] = None
    data["added_tokens"] = [token for token in data["added_tokens"] if token["id"] < 3]
    tokenizer = Tokenizer.from_str(json.dumps(data))
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
    return tokenizer


def metaspace(corpus):
    """The newer form of it, without bytes, so that there are unknown tokens, side by side."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Strip(left=False, right=True),
                                                 normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    tokenizer.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=400, special_tokens=["<unk>", "<s>", "</s>"], limit_alphabet=80,
                                                              show_progress=False))
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 1))
    tokenizer.add_tokens([added("[MASK]"), added("ﬁ", normalized=True)])
    return tokenizer


def bert(corpus):
    """As BERT's."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(corpus, trainers.WordPieceTrainer(vocab_size=800, special_tokens=special, limit_alphabet=250, show_progress=False))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def words(corpus):
    """Ends of words as characters of their own, and the pre-tokenizers that the others leave out."""
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]", continuing_subword_prefix="@", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=False), pre_tokenizers.Punctuation("merged_with_previous"),
        pre_tokenizers.Split(Regex(r"\w\d"), "contiguous", invert=True)])
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    tokenizer.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=500, special_tokens=["[UNK]"], limit_alphabet=120, show_progress=False,
                                                              continuing_subword_prefix="@", end_of_word_suffix="</w>"))
    return tokenizer


def lower_words(corpus):
    """Whole words, cut to ten of them and filled up to a multiple of four."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.CharDelimiterSplit("-")])
    tokenizer.train_from_iterator(corpus, trainers.WordLevelTrainer(vocab_size=300, special_tokens=["<unk>", "<pad>"], show_progress=False))
    tokenizer.enable_truncation(10, strategy="longest_first", direction="left")
    tokenizer.enable_padding(direction="left", pad_id=1, pad_token="<pad>", pad_to_multiple_of=4, pad_type_id=2)
    return tokenizer


def main():
    n, folder = 1500, HERE
    if len(sys.argv) > 1:
        n, folder = int(sys.argv[2]), pathlib.Path(sys.argv[3])
    pages = [path.read_text() for path in sorted(DOCS.glob("*.md"))]
    corpus = [text for page in pages for text in page.splitlines()] + lines(4000, pages, 1)
    sample = lines(n, pages, 2)
    out = {"lines": sample, "tokenizers": {}}
    kinds = [byte_level, split_byte_level, llama, metaspace, bert, words, lower_words]
    for i, make in enumerate(kinds):
        name = make.__name__
        if folder == HERE:
            tokenizer = make(corpus)
            # The trainers' order among equals differs from run to run, so the files decide, not the training.
            (folder / f"{name}.json").write_text(json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, separators=(",", ":")) + "\n")
        tokenizer = Tokenizer.from_file(str(HERE / f"{name}.json"))
        # Of the kept lines each goes through one tokenizer in turn, of more all through all of them.
        chosen = range(n) if folder != HERE else range(i, n, len(kinds))
        cases = []
        for j in chosen:
            ids = tokenizer.encode(sample[j]).ids
            cases.append([j, ids, tokenizer.decode(ids)])
        pairs = []
        for j in range(0, n - 1, 50):
            for special in (True, False):
                encoding = tokenizer.encode(sample[j], sample[j + 1], add_special_tokens=special)
                pairs.append([j, special, encoding.ids, encoding.type_ids])
        out["tokenizers"][name] = {"cases": cases, "pairs": pairs, "size": tokenizer.get_vocab_size(),
                                   "without_added": tokenizer.get_vocab_size(with_added_tokens=False)}
    (folder / "lines.json").write_text(json.dumps(out, ensure_ascii=True, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
