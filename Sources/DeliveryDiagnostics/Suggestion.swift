/// Suggestions for misspelt words.
package enum Suggestion {
    /// The candidate with the fewest differences, if there are few enough for a typing error; else nil. Case is
    /// ignored.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let word = word.lowercased()
        let nearest = candidates.min {
            distance(word, $0.lowercased()) < distance(word, $1.lowercased())
        }
        return nearest.flatMap { candidate in
            let lowercased = candidate.lowercased()
            let isSlip = distance(word, lowercased) <= max(2, candidate.count / 3)
            return isSlip || (word.count > 2 && lowercased.hasPrefix(word)) ? candidate : nil
        }
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
