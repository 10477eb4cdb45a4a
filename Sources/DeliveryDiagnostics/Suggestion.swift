/// Suggestions for misspelt words.
package enum Suggestion {
    /// The candidate with the fewest differences, if there are few enough for a typing error; else nil. Case is
    /// ignored.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        if let whole = candidates.first(where: { isLastComponent(word, of: $0) }) { return whole }
        let letters = Array(word.lowercased().unicodeScalars)
        let lowered = candidates.map { Array($0.lowercased().unicodeScalars) }
        if letters.count > 2, let whole = lowered.firstIndex(where: { $0.starts(with: letters) }) {
            return candidates[whole]
        }
        return zip(candidates, lowered).compactMap { text, candidate in
            distance(letters, candidate, limit: candidate.count < 9 ? 2 : 3).map { (text: text, distance: $0) }
        }.min { $0.distance < $1.distance }?.text
    }

    /// True if a name is another one without the module or type before its last period: `JobArrived` of
    /// `jobs.JobArrived`.
    static func isLastComponent(_ name: String, of other: String) -> Bool {
        !name.isEmpty && other.hasSuffix(".\(name)")
    }

    /// The Levenshtein distance, the number of characters to insert, remove or replace, if it is at most the limit.
    static func distance(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar], limit: Int) -> Int? {
        guard abs(one.count - other.count) <= limit else { return nil }
        var row = Array(0...other.count)
        for (index, character) in one.enumerated() {
            var diagonal = index
            row[0] = index + 1
            for column in other.indices {
                let replaced = diagonal + (character == other[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
            // Long names that differ at their beginnings are not read to their ends.
            if row.allSatisfy({ $0 > limit }) { return nil }
        }
        return row[other.count] <= limit ? row[other.count] : nil
    }

    /// True if the words have at most one difference.
    static func isNear(_ one: String, _ other: String) -> Bool {
        distance(Array(one.unicodeScalars), Array(other.unicodeScalars), limit: 1) != nil
    }
}
