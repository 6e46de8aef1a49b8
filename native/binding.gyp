{ "targets": [ { "target_name": "dart_native", "type": "none" } ] }
