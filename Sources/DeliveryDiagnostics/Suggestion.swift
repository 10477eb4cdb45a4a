/// Suggestions for misspelt words.
package enum Suggestion {
    /// The candidate with the fewest differences, if there are few enough for a typing error; else nil. Case is
    /// ignored.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        if let whole = candidates.first(where: { isLastComponent(word, of: $0) }) { return whole }
        let word = word.lowercased()
        if word.count > 2, let whole = candidates.first(where: { $0.lowercased().hasPrefix(word) }) { return whole }
        guard word.count <= longestWord else { return nil }
        let near = candidates.compactMap { candidate -> (text: String, distance: Int)? in
            let (length, limit) = (candidate.count, max(2, candidate.count / 3))
            guard length <= longestWord, abs(length - word.count) <= limit else { return nil }
            let distance = distance(word, candidate.lowercased())
            return distance <= limit ? (candidate, distance) : nil
        }
        return near.min { $0.distance < $1.distance }?.text
    }

    /// A comparison costs the product of the lengths, so longer words are not compared.
    private static let longestWord = 80

    /// True if a name is another one without the module or type before its last period: `JobArrived` of
    /// `jobs.JobArrived`.
    static func isLastComponent(_ name: String, of other: String) -> Bool {
        !name.isEmpty && other.hasSuffix(".\(name)")
    }

    /// The Levenshtein distance: the number of characters to insert, remove or replace.
    package static func distance(_ one: String, _ other: String) -> Int {
        let other = Array(other)
        var row = Array(0...other.count)
        for (index, character) in one.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, otherCharacter) in other.enumerated() {
                let replaced = diagonal + (character == otherCharacter ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[other.count]
    }
}
