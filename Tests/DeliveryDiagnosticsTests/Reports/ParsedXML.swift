import Foundation
import FoundationXML

/// The elements of a document, in the order of their beginnings, from an XML parser.
final class ParsedXML: NSObject, XMLParserDelegate {
    struct Element {
        let name: String
        let attributes: [String: String]
        var text = ""
        /// The tooltip of a picture's element, or of its group.
        var title = ""

        subscript(attribute: String) -> String? { attributes[attribute] }

        func isOf(_ style: String) -> Bool {
            attributes["class"]?.split(separator: " ").contains { $0 == style } == true
        }
    }

    struct NotWellFormed: Error {
        var problem: String
    }

    private(set) var elements: [Element] = []
    private var open: [Int] = []
    /// By group: its tooltip.
    private var inherited: [Int: String] = [:]

    init(_ document: String) throws {
        super.init()
        let parser = XMLParser(data: Data(document.utf8))
        parser.delegate = self
        // On Linux, `parse()` returns true despite some errors and unclosed elements.
        guard parser.parse(), parser.parserError == nil, open.isEmpty else {
            throw NotWellFormed(problem: "line \(parser.lineNumber): \(parser.parserError.map { "\($0)" } ?? "")")
        }
    }

    /// The texts of a picture.
    var texts: [String] { elements.filter { $0.name == "text" }.map(\.text) }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        open.append(elements.count)
        elements.append(Element(name: name, attributes: attributes))
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if let last = open.last { elements[last].text += text }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        let closed = open.removeLast()
        guard let parent = open.last, parent != 0 else { return }
        if name == "title" {
            // The tooltip of a group applies to all its elements.
            inherited[parent] = elements[closed].text
            for index in parent..<elements.count { elements[index].title = elements[closed].text }
        } else if let title = inherited[parent], elements[closed].title.isEmpty {
            elements[closed].title = title
        }
    }
}
