/// What somebody who misspelt a word may have meant.
package enum Suggestion {
    /// The candidate with the fewest changes, if these are few enough to be a slip.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let word = word.lowercased()
        let nearest = candidates.min { distance(word, $0) < distance(word, $1) }
        return nearest.flatMap { candidate in
            let isSlip = distance(word, candidate) <= max(2, candidate.count / 3)
            return isSlip || (word.count > 2 && candidate.hasPrefix(word)) ? candidate : nil
        }
    }

    /// How many characters must be inserted, removed or replaced (Levenshtein).
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
