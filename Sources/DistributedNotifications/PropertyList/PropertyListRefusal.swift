/// Why a value cannot be part of a userInfo, and where it is. The path is built while the error is thrown, so an
/// accepted value costs nothing for it.
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
            "is where the userInfo exceeds \(PropertyListLimits.bytes >> 10) KiB. Write large data to a file, and post "
                + "its path")
    }

    static var tooDeep: PropertyListRefusal {
        PropertyListRefusal("is nested more than \(PropertyListLimits.depth) arrays and dictionaries deep")
    }

    static var tooMany: PropertyListRefusal {
        PropertyListRefusal(
            "is where the userInfo exceeds \(PropertyListLimits.nodes) values")
    }

    static var noDate: PropertyListRefusal { PropertyListRefusal("is a date outside the years 1 to 9999") }

    /// The same refusal, of a dictionary that contains the value under a key.
    func inside(key: String) -> PropertyListRefusal { adding(.key(key)) }

    func inside(index: Int) -> PropertyListRefusal { adding(.index(index)) }

    private func adding(_ step: Step) -> PropertyListRefusal {
        var refusal = self
        refusal.innerFirst.append(step)
        return refusal
    }

    /// The error, with the path as written in Swift: `userInfo["sizes"][2]`. The middle of a long path is left out.
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
