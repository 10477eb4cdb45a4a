/// A notification's name as the words that it consists of, to tell a misspelt name from a different one.
///
/// Names that differ in a whole word, such as `WindowWillClose` and `WindowDidClose`, are different names.
struct NameWords {
    /// Shorter words that differ are different words, such as `get` and `set`.
    private static let shortestMisspelt = 4

    private let name: String
    private let withoutModule: String
    /// In lower case, without separators.
    private let letters: String
    private let withoutNumbers: String
    private let words: [[Character]]
    private let (first, last): (Character?, Character?)

    init(_ name: String) {
        self.name = name
        withoutModule = name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
        var words: [[Character]] = [[]]
        let characters = Array(name)
        for (index, character) in characters.enumerated() {
            guard character.isLetter || character.isNumber else {
                words.append([])
                continue
            }
            // A capital begins a word, and of several capitals the last one: URLChanged.
            let isBeginning =
                index > 0 && character.isUppercase
                && (!characters[index - 1].isUppercase
                    || index + 1 < characters.count && characters[index + 1].isLowercase)
            if isBeginning { words.append([]) }
            words[words.count - 1] += character.lowercased()
        }
        self.words = words.filter { !$0.isEmpty }
        letters = String(self.words.joined())
        (first, last) = (letters.first, letters.last)
        withoutNumbers = letters.filter { !$0.isNumber }
    }

    /// True if one name is the other one without its module: `JobArrived` and `jobs.JobArrived`.
    func isWithoutModule(_ other: NameWords) -> Bool {
        name != other.name && (withoutModule == other.name || name == other.withoutModule)
    }

    /// True if one name is the other one with a typing error in one word, or in other case.
    func isMisspelt(_ other: NameWords) -> Bool {
        if letters == other.letters { return name != other.name }
        // Names that differ only in numbers differ on purpose.
        return hasTypingError(other) && withoutNumbers != other.withoutNumbers
    }

    /// True if one word differs, by one letter or by two that are exchanged.
    private func hasTypingError(_ other: NameWords) -> Bool {
        // One error leaves the beginning or the end as it is.
        guard words.count == other.words.count, first == other.first || last == other.last else { return false }
        var differing: Int?
        for index in words.indices where words[index] != other.words[index] {
            guard differing == nil else { return false }
            differing = index
        }
        guard let differing else { return false }
        let (one, two) = (words[differing], other.words[differing])
        guard max(one.count, two.count) >= Self.shortestMisspelt, abs(one.count - two.count) <= 1 else { return false }
        let same = zip(one, two).prefix { $0 == $1 }.count
        let sameAtEnd = zip(one.dropFirst(same).reversed(), two.dropFirst(same).reversed()).prefix { $0 == $1 }.count
        let (rest, otherRest) = (one.dropFirst(same).dropLast(sameAtEnd), two.dropFirst(same).dropLast(sameAtEnd))
        return max(rest.count, otherRest.count) <= 1 || rest.count == 2 && rest.elementsEqual(otherRest.reversed())
    }
}
