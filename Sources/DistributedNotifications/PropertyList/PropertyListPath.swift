/// Where in a property list something is, collected from the inside out while an error is thrown.
struct PropertyListPath: Hashable, Sendable {
    private enum Step: Hashable, Sendable {
        case key(String)
        case index(Int)
    }

    private var innerFirst: [Step] = []

    func inside(key: String) -> PropertyListPath { adding(.key(key)) }

    func inside(index: Int) -> PropertyListPath { adding(.index(index)) }

    private func adding(_ step: Step) -> PropertyListPath {
        var path = self
        path.innerFirst.append(step)
        return path
    }

    /// As it would be written in Swift: `userInfo["sizes"][2]`. The middle of a long one is left out.
    func text(of root: String) -> String {
        var texts = innerFirst.reversed().map { step in
            switch step {
            case .key(let key) where key.count > 40: "[\"\(key.prefix(39))…\"]"
            case .key(let key): "[\"\(key)\"]"
            case .index(let index): "[\(index)]"
            }
        }
        if texts.count > 12 { texts.replaceSubrange(6..<(texts.count - 5), with: ["…"]) }
        return root + texts.joined()
    }
}
