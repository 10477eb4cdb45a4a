/// Suggestions for misspelt words.
package enum Suggestion {
    /// The candidate with the fewest differences, if there are few enough for a typing error; else nil. Case is
    /// ignored.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let word = word.lowercased()
        let nearest = candidates.map { (text: $0, distance: distance(word, $0.lowercased())) }
            .min { $0.distance < $1.distance }
        guard let nearest else { return nil }
        let isBeginning = word.count > 2 && nearest.text.lowercased().hasPrefix(word)
        return isBeginning || nearest.distance <= max(2, nearest.text.count / 3) ? nearest.text : nil
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
