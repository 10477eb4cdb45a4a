/// A part of a command's discussion, which is laid out for a terminal: headings in capitals, lines that begin with
/// blanks to be kept as they are, and paragraphs.
enum DiscussionBlock: Hashable {
    case heading(String)
    case paragraph(String)
    case literal([String])

    static func blocks(of discussion: String) -> [DiscussionBlock] {
        var blocks: [DiscussionBlock] = []
        var follows = false
        for line in discussion.split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == " " }
            switch blocks.last {
            case _ where text.isEmpty:
                follows = false
                continue
            case .literal(let lines)? where line.hasPrefix(" ") && follows:
                blocks[blocks.count - 1] = .literal(lines + [String(line)])
            case .paragraph(let before)? where !line.hasPrefix(" ") && follows:
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
            follows = true
        }
        return blocks.map { block in
            guard case .literal(let lines) = block else { return block }
            let indentation = lines.map { $0.prefix { $0 == " " }.count }.min() ?? 0
            return .literal(lines.map { String($0.dropFirst(indentation)) })
        }
    }
}
