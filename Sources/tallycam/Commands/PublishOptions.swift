import Filters
import LinuxIO
import Publishing
import StreamQuality

extension PublishArguments {
    static let usage = "tallycam publish (--url URL | --stream stream.json) [OPTION...]"

    static let options =
        [
            CommandLineOption(
                "url", takes: "URL", isSingle: true,
                help: """
                    where to: rtmp://HOST[:PORT]/APPLICATION/STREAM, or rtmps://
                    (other users see command lines; $TALLYCAM_URL is private)
                    """),
            CommandLineOption("stream", takes: "FILE", isSingle: true, help: "where to: a stream.json"),
            CommandLineOption(
                "ca", takes: "FILE",
                help: "a PEM file of the certificates to trust with rtmps://,\nin place of the system's"),
            CommandLineOption(
                "video", takes: "SOURCE",
                help: """
                    synthetic (default), none,
                    libcamera[:ID|front|back|external][,SETTING...],
                    v4l2:/dev/videoN[,SETTING...],
                    image:FILE (PNG, JPEG),
                    movie:FILE.mp4[,loop=on], or
                    raw:PATH,format=F,size=WxH,fps=N
                    with F i420, nv12, yuyv, uyvy, rgb888, bgr888,
                    bgra, rgba or bgrx.
                    A camera's settings are size=WxH, fps=N, format=CODE
                    and its controls, CONTROL=VALUE (tallycam cameras).
                    PATH - is standard input. A file or pipe is paced
                    by its fps (--pace).
                    """),
            CommandLineOption(
                "camera", takes: "NAME=SOURCE",
                help: """
                    one of several cameras, in place of --video: the first is on
                    at the start, the command camera NAME|next switches. SOURCE
                    is as for --video, but not raw or none
                    """),
            CommandLineOption(
                "audio", takes: "SOURCE",
                help: """
                    tone (default; with a movie, its own audio),
                    silence, none, movie:FILE.mp4[,loop=on],
                    alsa[:DEVICE][,gain=DB][,mute=on] (tallycam microphones),
                    or raw:PATH,rate=N,channels=N[,format=F]
                    with F s16le (default), s32le or f32le,
                    8000 to 192000 Hz, 1 to 8 channels, mixed to stereo.
                    Up to four are mixed, --audio for each; each may end with
                    [,gain=DB][,mute=on]
                    """),
            CommandLineOption(
                "quality", takes: "NAME",
                help:
                    "\(VideoQuality.allCases.map(\.name).joined(separator: " "))\n(default \(VideoQuality.standard.name))"
            ),
            CommandLineOption(
                "audio-quality", takes: "NAME",
                help:
                    "\(AudioQuality.presets.map(\.name).joined(separator: " ")) (default \(AudioQuality.standard.name));\n"
                    + "with another sample rate than 44100: High2@48000 (or 22050, 11025)"
            ),
            CommandLineOption(
                "dimension", takes: "WxH|NAME",
                help: "frame size (default \(VideoDimension.standard.size)), a name such as 720p or\n"
                    + "4:3-720p, or source, the source's own; other sizes are\nrounded to 16"),
            SourceOptions.orientation,
        ] + AdaptationOptions.options + [
            CommandLineOption(
                "set", takes: "CONTROLS",
                help: """
                    the camera's controls at the start, as in "zoom 2 focus manual"
                    (docs/reference/controls.md); while live, the command set changes them
                    """),
            CommandLineOption(
                "filter", takes: "NAME[,KEY=VALUE...]",
                help: """
                    what frames pass, one after the other, as in
                    "text,text=Studio {time},position=bottom-left":
                    \(FilterName.allCases.map(\.rawValue).joined(separator: ", ")) (docs/reference/filters.md)
                    """),
            CommandLineOption(
                "pause-image", takes: "FILE",
                help: """
                    show this PNG or JPEG while the stream is paused (command
                    pause on|off); without it, the last frame is shown
                    """),
            CommandLineOption("encoder", takes: "NAME", help: "auto (default), v4l2, v4l2:/dev/videoN or openh264"),
            CommandLineOption(
                "preview", takes: "drm[:CONNECTOR]",
                help: """
                    show what is sent on a display of this machine: the first that
                    is connected, or that of a connector such as HDMI-A-1
                    """),
            CommandLineOption("duration", takes: "SECONDS", help: "end after so much media"),
            CommandLineOption(
                "reconnect", takes: "N", help: "attempts after a failure: a number (default 3) or endless"),
        ] + StepTimeouts.options + [
            CommandLineOption("status-interval", takes: "SECONDS", help: "between status reports, 1 to 30 (default 3)"),
            CommandLineOption("from-flv", takes: "FILE", help: "publish an already encoded file; nothing is encoded"),
            SourceOptions.pace,
            CommandLineOption(
                "commands",
                help: """
                    take commands on standard input, as on a terminal: set quality
                    Medium2 changes the live stream at one keyframe; help lists all
                    """),
            CommandLineOption("trace", help: "ten measurements of the network a second, as events"),
            CommandLineOption(
                "events", takes: "STYLE", help: "of standard output: text (default) or json, one object a line"),
        ]
}
