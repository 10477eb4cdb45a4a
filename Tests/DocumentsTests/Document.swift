import Foundation
import SharedTesting

/// A Markdown file of this repository, with its fenced blocks.
struct Document: Sendable, CustomStringConvertible {
    /// A fenced block.
    struct Block: Sendable {
        /// The word after the fence, such as `swift`.
        let language: String
        let text: String
        let line: Int
        /// The line before the block says that it is not checked, and why.
        let isMarkedUnchecked: Bool
    }

    /// The path from the root of the repository.
    let path: String
    let text: String
    let blocks: [Block]

    var description: String { path }

    /// The README and all articles.
    static let all: [Document] = {
        let names =
            FileManager.default.enumerator(atPath: Repository.root.appending(path: "Sources").path)?.allObjects ?? []
        let articles = names.compactMap { $0 as? String }.filter { $0.contains(".docc/") && $0.hasSuffix(".md") }
        return (["README.md"] + articles.sorted().map { "Sources/\($0)" }).map { path in
            let text = try? String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
            return Document(path: path, text: text ?? "")
        }
    }()

    init(path: String, text: String) {
        self.path = path
        self.text = text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var blocks: [Block] = []
        var begin: Int?
        for (index, line) in lines.enumerated() where line.hasPrefix("```") {
            guard let first = begin else {
                begin = index
                continue
            }
            let mark = lines[..<first].last { !$0.isEmpty }
            blocks.append(
                Block(
                    language: String(lines[first].dropFirst(3)),
                    text: lines[(first + 1)..<index].map { "\($0)\n" }.joined(), line: first + 1,
                    isMarkedUnchecked: mark?.hasPrefix("*Not checked: ") == true))
            begin = nil
        }
        self.blocks = blocks
    }

    /// The blocks of a language that are to be checked.
    func checkedBlocks(_ language: String) -> [Block] {
        blocks.filter { $0.language == language && !$0.isMarkedUnchecked }
    }
}
