-- Twelve rows of state in this order: a later row of the same sensor replaces
-- the earlier one, so that ten remain.
INSERT INTO sensor_info (sensor_id, name, location, state) VALUES
    ( 1, 'Roof temperature sensor',         'roof',            'OK'),
    ( 2, 'Lobby humidity sensor',           'lobby',           'ERROR'),
    ( 3, 'Server room sensor',              'server-room',     'MAINTENANCE'),
    ( 4, 'Warehouse pressure sensor',       'warehouse',       'OK'),
    ( 5, 'Conference room humidity sensor', 'conference-room', 'OK'),
    ( 6, 'Office 1 temperature sensor',     'office-1',        'LOW_BATTERY'),
    ( 7, 'Office 2 humidity sensor',        'office-2',        'OK'),
    ( 8, 'Lab pressure sensor',             'lab',             'ERROR'),
    ( 9, 'Parking pressure sensor',         'parking',         'OK'),
    (10, 'Backyard temperature sensor',     'backyard',        'OK'),
    ( 2, 'Lobby humidity sensor',           'lobby',           'OK'),
    ( 8, 'Lab pressure sensor',             'lab',             'CALIBRATING');

SELECT count(*) AS sensors FROM sensor_info
\gset
\echo 'sensor_info: twelve rows written,' :sensors 'sensors remain'
