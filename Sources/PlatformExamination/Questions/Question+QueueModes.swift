internal import Foundation

/// Promises about the run loop modes of a notification queue.
extension Question {
    static let queueModes: [Question] =
        [
            Question(
                "no-mode-is-the-default-mode", "no mode: not posted while another mode runs", sentence: otherMode,
                expected: ["modal ends", "asap"]
            ) { trial in
                trial.queue.enqueue("asap", .asap)
                trial.pass(Trial.modal)
                trial.pass(Trial.modal)
                trial.note("modal ends")
            },
            Question(
                "custom-mode-is-held-back", "custom mode: not posted while another mode runs", sentence: ownMode,
                expected: ["default ends"]
            ) { trial in
                trial.queue.enqueue("asap", .asap, modes: [Trial.modal])
                trial.queue.enqueue("idle", .whenIdle, modes: [Trial.modal])
                trial.run()
                trial.note("default ends")
            },
        ]
        + inMode("custom-mode", Trial.modal, running: Trial.modal, "when it runs", sentence: ownMode, factOfNow: nil)
        + inMode("common-modes", .common, running: .default, "in the default mode", factOfNow: "F8") + [
            Question(
                "now-waits-for-its-mode", "now, in another mode: posted when a matching mode runs",
                sentence: otherMode, expected: ["timer", "modal ends", "now"]
            ) { trial in
                trial.addTimer(mode: Trial.modal) {
                    trial.note("timer")
                    trial.queue.enqueue("now", .now)
                }
                trial.pass(Trial.modal)
                trial.note("modal ends")
            },
            Question(
                "now-without-a-run-loop", "now, for a mode, while no run loop runs: posted at once",
                expected: ["now", "enqueue returned"]
            ) { trial in
                trial.queue.enqueue("now", .now, modes: [Trial.modal])
                trial.note("enqueue returned")
            },
        ]

    private static let ownMode = "the notifications will be posted only when the run loop is in this mode."
    private static let otherMode =
        "If the run loop is not currently in this mode, the notifications wait until the next time that mode is "
        + "entered."

    /// Notifications with each posting style are enqueued for a mode, and posted while a mode runs.
    private static func inMode(
        _ name: String, _ mode: RunLoop.Mode, running: RunLoop.Mode, _ posted: String, sentence: String? = nil,
        factOfNow: String?
    ) -> [Question] {
        let title = name.replacing("-", with: " ")
        let atOnce = running == .default ? posted : "while it runs"
        return [("asap", QueueUnderTest.Style.asap), ("idle", .whenIdle)].map { word, style in
            Question(
                "\(name)-\(word)", "\(title), \(word): posted \(posted)", sentence: sentence, fact: "F8",
                expected: [word]
            ) { trial in
                trial.queue.enqueue(word, style, modes: [mode])
                trial.run(running)
            }
        } + [
            Question(
                "\(name)-now", "\(title), now: posted at once \(atOnce)", sentence: sentence, fact: factOfNow,
                expected: ["timer", "now", "callout ends"]
            ) { trial in
                trial.addTimer(mode: running) {
                    trial.note("timer")
                    trial.queue.enqueue("now", .now, modes: [mode])
                    trial.note("callout ends")
                }
                trial.run(running)
            }
        ]
    }
}
