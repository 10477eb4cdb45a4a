/// A notification's name as the words that it consists of, to tell a misspelt name from a different one.
///
/// Names that differ in a whole word, such as `WindowWillClose` and `WindowDidClose`, are different names.
struct NameWords {
    /// Shorter words that differ are different words, such as `get` and `set`.
    private static let shortestMisspelt = 4

    private let name: String
    private let withoutModule: String
    /// In lower case.
    private let words: [String]

    init(_ name: String) {
        self.name = name
        withoutModule = name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
        // A capital begins a word, and of several capitals the last one: URLChanged.
        words = name.matches(of: /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{N}]+|\p{L}+/).map { $0.output.lowercased() }
    }

    /// True if one name is the other one without its module: `JobArrived` and `jobs.JobArrived`.
    func isWithoutModule(_ other: NameWords) -> Bool {
        name != other.name && (withoutModule == other.name || name == other.withoutModule)
    }

    /// True if one name is the other one with a typing error in one word, or in other case.
    func isMisspelt(_ other: NameWords) -> Bool {
        if words.joined() == other.words.joined() { return name != other.name }
        // One error leaves the beginning or the end as it is.
        guard words.count == other.words.count,
            words.first?.first == other.words.first?.first
                || words.last?.last == other.words.last?.last
        else { return false }
        let differing = zip(words, other.words).filter { $0 != $1 }
        guard differing.count == 1, case (let one, let two) = differing[0],
            max(one.count, two.count) >= Self.shortestMisspelt,
            // Names that differ only in numbers differ on purpose.
            one.filter({ !$0.isNumber }) != two.filter({ !$0.isNumber })
        else { return false }
        // One letter differs, or two that are exchanged.
        let isExchanged = zip(one, two).filter { $0 != $1 }.count == 2 && one.sorted() == two.sorted()
        return isExchanged || Suggestion.isNear(one, two)
    }
}
