/// A part of a command's discussion: a heading in capitals, a paragraph, or lines that begin with blanks and keep their
/// layout.
enum DiscussionBlock: Hashable {
    case heading(String)
    case paragraph(String)
    case literal([String])

    static func blocks(of discussion: String) -> [DiscussionBlock] {
        var blocks: [DiscussionBlock] = []
        var continues = false
        for line in discussion.split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == " " }
            switch blocks.last {
            case _ where text.isEmpty:
                continues = false
                continue
            case .literal(let lines)? where line.hasPrefix(" ") && continues:
                blocks[blocks.count - 1] = .literal(lines + [String(line)])
            case .paragraph(let before)? where !line.hasPrefix(" ") && continues:
                blocks[blocks.count - 1] = .paragraph("\(before) \(line)")
            default:
                if line.hasPrefix(" ") {
                    blocks.append(.literal([String(line)]))
                } else if line.allSatisfy({ $0.isUppercase || $0 == " " }) {
                    blocks.append(.heading(String(line)))
                } else {
                    blocks.append(.paragraph(String(line)))
                }
            }
            continues = true
        }
        return blocks.map { block in
            guard case .literal(let lines) = block else { return block }
            let indentation = lines.map { $0.prefix { $0 == " " }.count }.min() ?? 0
            return .literal(lines.map { String($0.dropFirst(indentation)) })
        }
    }
}
