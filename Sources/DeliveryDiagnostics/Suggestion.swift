/// Suggestions for misspelt words.
package enum Suggestion {
    /// The candidate with the fewest differences, if there are few enough for a typing error; else nil. Case is
    /// ignored, and a name may be without its module or type.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        if let whole = candidates.first(where: { isLastComponent(word, of: $0) }) { return whole }
        let letters = Array(word.lowercased().unicodeScalars)
        let near = candidates.compactMap { candidate -> (text: String, distance: Int)? in
            let whole = Array(candidate.lowercased().unicodeScalars)
            if letters.count > 2, whole.starts(with: letters) { return (candidate, 0) }
            return [whole, Array(whole.split(separator: ".").last ?? [])].compactMap { form in
                distance(letters, form, limit: form.count < 9 ? 2 : 3)
            }.min().map { (candidate, $0) }
        }
        return near.min { $0.distance < $1.distance }?.text
    }

    /// True if a name is another one without the module or type before its last period: `JobArrived` of
    /// `jobs.JobArrived`.
    static func isLastComponent(_ name: String, of other: String) -> Bool {
        !name.isEmpty && other.hasSuffix(".\(name)")
    }

    /// True if the words have at most one difference.
    static func isNear(_ one: String, _ other: String) -> Bool {
        distance(Array(one.unicodeScalars), Array(other.unicodeScalars), limit: 1) != nil
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
}
