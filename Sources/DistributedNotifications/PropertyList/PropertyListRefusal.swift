/// Why a value is not taken, and where in the userInfo it is. The path grows while the error is thrown, so a value that is
/// taken pays nothing for it.
struct PropertyListRefusal: Error {
    private enum Step {
        case key(String)
        case index(Int)
    }

    private var innerFirst: [Step] = []
    private let problem: String

    init(_ problem: String) {
        self.problem = problem
    }

    static var tooLarge: PropertyListRefusal {
        PropertyListRefusal(
            "is where more than \(PropertyListLimits.bytes >> 10) KiB are written, and a userInfo may be no more. "
                + "Post what matters, and the path of a file that has the rest")
    }

    static var tooDeep: PropertyListRefusal {
        PropertyListRefusal("is deeper than \(PropertyListLimits.depth) arrays and dictionaries in each other")
    }

    static var tooMany: PropertyListRefusal {
        PropertyListRefusal(
            "is where there are more than \(PropertyListLimits.nodes) values, and a userInfo may have no more")
    }

    static var noDate: PropertyListRefusal { PropertyListRefusal("is a date outside the years 1 to 9999") }

    /// The same of a value that has the value under this key.
    func inside(key: String) -> PropertyListRefusal { adding(.key(key)) }

    func inside(index: Int) -> PropertyListRefusal { adding(.index(index)) }

    private func adding(_ step: Step) -> PropertyListRefusal {
        var refusal = self
        refusal.innerFirst.append(step)
        return refusal
    }

    /// The path is as it would be written in Swift: `userInfo["sizes"][2]`. The middle of a long one is left out.
    var error: DistributedError {
        var steps = innerFirst.reversed().map { step in
            switch step {
            case .key(let key) where key.count > 40: "[\"\(key.prefix(39))…\"]"
            case .key(let key): "[\"\(key)\"]"
            case .index(let index): "[\(index)]"
            }
        }
        if steps.count > 12 { steps.replaceSubrange(6..<(steps.count - 5), with: ["…"]) }
        return .userInfoNotUsable(path: "userInfo" + steps.joined(), problem: problem)
    }
}
