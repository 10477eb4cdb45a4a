internal import DeliveryRecording

/// What a row of a timeline is drawn as. The raw value is its meaning, which the legend of a picture explains.
enum TimelineMark: String, CaseIterable {
    case post
    case enqueue
    case handler
    case wait
    case undelivered = "not delivered"
    case end
    case other = "other event"

    init(_ stage: DeliveryStage) {
        self =
            switch stage {
            case .post, .capture, .append: .post
            case .enqueue: .enqueue
            case .deliver, .return: .handler
            case .wait, .waitEnd: .wait
            case .coalesce, .dequeue, .cancel, .skip, .drop, .targetGone, .lost, .refuseWait: .undelivered
            case .threadEnd, .processEnd, .end: .end
            default: .other
            }
    }

    /// In a text: the mark of an event, and of a handler or wait that has one row. In a picture: the path from the
    /// middle of the mark.
    var look: (character: Character, path: String) {
        switch self {
        case .post: ("●", "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z")
        case .enqueue: ("○", "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z")
        case .handler: ("■", "m-4 -5h8v10h-8z")
        case .wait: ("┊", "m-4 -5h8v10h-8z")
        case .undelivered: ("×", "m-4 -4l8 8m0 -8l-8 8")
        case .end: ("┴", "m-6 0h12")
        case .other: ("·", "m-4 0h8")
        }
    }
}
